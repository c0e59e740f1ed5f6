"""The contrast table: objects that the API accepts, and those that it refuses, with the field at fault.

Every line comes from a bound, a rule or a default of the API contract. The same lines hold for every
server that serves our CRDs, the real one and the embedded one.
"""

from contrast.cases import Create, Update, Write
from contrast.creations import CREATIONS
from contrast.others import OTHER_CREATIONS
from contrast.statuses import STATUS_WRITES
from contrast.updates import UPDATES

__all__ = ["CREATIONS", "OTHER_CREATIONS", "STATUS_WRITES", "UPDATES", "Create", "Update", "Write"]
