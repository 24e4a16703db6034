"""The six nouns: `Pmf`, `Channel`, `Guarantee`, `Problem`, `Design`, `Certificate`. Frozen, checked at birth."""

from dalenius.core.channel import Channel
from dalenius.core.conditional_law import Kernel
from dalenius.core.design import Certificate, Design
from dalenius.core.forms import (
    Listed,
    Noise,
    Orbit,
    Orbits,
    Pram,
    Product,
    Records,
    Resample,
    Staircase,
    Strata,
    Sums,
    Types,
    Windows,
    channel_of,
)
from dalenius.core.guarantee import Guarantee
from dalenius.core.guess_guarantees import Guess, MaximalLeakage, Sibson, TotalVariation
from dalenius.core.information_guarantees import Contraction, Dalenius, Independent, Leakage, WorstCaseLeakage
from dalenius.core.markov import MarkovChain
from dalenius.core.noise_law import NoiseLaw
from dalenius.core.objective import (
    AtLeast,
    Distortion,
    MaximizeInformation,
    MaximizeInformationOfEach,
    MinimizeCapacity,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeLeakageAndRate,
    MinimizeRate,
    MinimizeVariance,
    Objective,
)
from dalenius.core.odds_guarantees import InformationPrivacy, LocalDP
from dalenius.core.pmf import Pmf
from dalenius.core.problem import Mismatch, Problem, SideInformation
from dalenius.core.product_pmf import Margins, ProductPmf, law_of
from dalenius.core.samples import Samples
from dalenius.core.source import MISSING, Column, ConditionallyIid, Grid, PmfSource, TableSource

__all__ = [
    "MISSING",
    "AtLeast",
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
    "Guess",
    "Independent",
    "InformationPrivacy",
    "Kernel",
    "Leakage",
    "Listed",
    "LocalDP",
    "Margins",
    "MarkovChain",
    "MaximalLeakage",
    "MaximizeInformation",
    "MaximizeInformationOfEach",
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
    "Records",
    "Resample",
    "Samples",
    "Sibson",
    "SideInformation",
    "Staircase",
    "Strata",
    "Sums",
    "TableSource",
    "TotalVariation",
    "Types",
    "Windows",
    "WorstCaseLeakage",
    "channel_of",
    "law_of",
]
