#pragma once

#include "base/data_type.h"
#include "base/ids.h"

namespace fusescope {

/// Two nodes that do not share a kernel, because they calculate in different types and the kernel can calculate them
/// only in one.
struct TypeConflict {
  NodeId producer, consumer;
  DataType producerType = DataType::Undefined, consumerType = DataType::Undefined;
};

}  // namespace fusescope
