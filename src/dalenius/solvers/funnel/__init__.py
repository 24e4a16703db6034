"""The most information under convex promises: by gains over cells of W's posteriors, and by faces over few secrets."""

from dalenius.solvers.funnel.caps import Cap
from dalenius.solvers.funnel.face_proof import FaceProof, face_proof
from dalenius.solvers.funnel.faces import FaceDual, Faces, Facial, by_columns_of_few
from dalenius.solvers.funnel.gains import Gains, most_information
from dalenius.solvers.funnel.gauges import Gauge, LeakageGauge, PolyhedralGauge, SibsonGauge
from dalenius.solvers.funnel.least import Least, least_beside_information
from dalenius.solvers.funnel.subdivision import Labels, Subdivision

__all__ = [
    "Cap",
    "FaceDual",
    "FaceProof",
    "Faces",
    "Facial",
    "Gains",
    "Gauge",
    "Labels",
    "LeakageGauge",
    "Least",
    "PolyhedralGauge",
    "SibsonGauge",
    "Subdivision",
    "by_columns_of_few",
    "face_proof",
    "least_beside_information",
    "most_information",
]
