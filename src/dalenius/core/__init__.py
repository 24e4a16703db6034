"""The six nouns: `Pmf`, `Channel`, `Guarantee`, `Problem`, `Design`, `Certificate`. Frozen, checked at birth."""

from dalenius.core.channel import Channel
from dalenius.core.design import Certificate, Design
from dalenius.core.forms import (
    Noise,
    Orbit,
    Orbits,
    Pram,
    Product,
    Resample,
    Staircase,
    Sums,
    Types,
    Windows,
    channel_of,
)
from dalenius.core.guarantee import (
    Contraction,
    Dalenius,
    Guarantee,
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    WorstCaseLeakage,
)
from dalenius.core.kernel import Kernel
from dalenius.core.noise_law import NoiseLaw
from dalenius.core.pmf import Pmf
from dalenius.core.problem import (
    Distortion,
    MaximizeInformation,
    MinimizeCapacity,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeLeakageAndRate,
    MinimizeRate,
    MinimizeVariance,
    Mismatch,
    Objective,
    Problem,
    SideInformation,
)
from dalenius.core.product_pmf import ProductPmf, law_of
from dalenius.core.samples import Samples
from dalenius.core.source import MISSING, Column, ConditionallyIid, Grid, PmfSource, TableSource

__all__ = [
    "MISSING",
    "Certificate",
    "Channel",
    "Column",
    "ConditionallyIid",
    "Contraction",
    "Dalenius",
    "Design",
    "Distortion",
    "Grid",
    "Guarantee",
    "Independent",
    "InformationPrivacy",
    "Kernel",
    "Leakage",
    "LocalDP",
    "MaximizeInformation",
    "MinimizeCapacity",
    "MinimizeDistortion",
    "MinimizeLeakage",
    "MinimizeLeakageAndRate",
    "MinimizeRate",
    "MinimizeVariance",
    "Mismatch",
    "Noise",
    "NoiseLaw",
    "Objective",
    "Orbit",
    "Orbits",
    "Pmf",
    "PmfSource",
    "Pram",
    "Problem",
    "Product",
    "ProductPmf",
    "Resample",
    "Samples",
    "SideInformation",
    "Staircase",
    "Sums",
    "TableSource",
    "Types",
    "Windows",
    "WorstCaseLeakage",
    "channel_of",
    "law_of",
]
