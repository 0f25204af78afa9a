"""The module classes, one file per family."""

from .activation import *
from .batchnorm import *
from .container import *
from .distance import *
from .dropout import *
from .flatten import *
from .instancenorm import *
from .linear import *
from .loss import *
from .module import Module as Module
from .normalization import *
from .padding import *
from .pixelshuffle import *
from .sparse import *
