// Every kernel, for the processor named by RELIFT_ML_TARGET. Included by targets.hpp alone: no include guard.
#include "lanes.hpp"
#include "kernels.hpp"
#include "kmeans.hpp"
#include "smo.hpp"
#include "coordinate.hpp"
#include "pivots.hpp"
#include "signatures.hpp"
#include "rows.hpp"
#include "row_cache.hpp"
#include "dual_machine.hpp"
#undef RELIFT_ML_INLINE
