#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/data_type.h"

namespace fusescope::torch {

/// The names that a pickle may contain. All others are refused, because a name in a pickle is a function that Python
/// would call.
enum class PickleGlobal {
  RebuildTensor,  ///< torch._utils._rebuild_tensor_v2
  /// Torch._utils._rebuild_tensor_v3, in which the element type is given separately from the storage.
  RebuildTypedTensor,
  RebuildParameter,  ///< torch._utils._rebuild_parameter: a tensor that training changes
  OrderedDict,       ///< collections.OrderedDict
  StorageType,       ///< torch.FloatStorage and similar names
  UntypedStorage,    ///< torch.storage.UntypedStorage
  ElementType        ///< torch.float8_e4m3fn and similar names
};

/// A tensor as a pickle describes it: a window on a storage, which is another member of the archive.
struct PickledTensor {
  std::string storage;  ///< name of the member below "data/"
  DataType type = DataType::Undefined;
  std::int64_t offset = 0;  ///< in elements, like the strides
  std::vector<std::int64_t> sizes, strides;
};

/// One object of a pickle. It refers to other objects by their indices in Pickle::values.
struct PickleValue {
  enum class Kind { None, Bool, Int, Float, Text, List, Tuple, Dict, Tensor, Global, Storage };
  Kind kind = Kind::None;
  bool flag = false;
  std::int64_t integer = 0;
  double number = 0;
  std::string text{};                  ///< for a Text; for a Storage, its key
  std::vector<std::uint32_t> items{};  ///< for a List or Tuple; for a Dict, keys and values alternate
  PickledTensor tensor{};
  PickleGlobal global = PickleGlobal::OrderedDict;
  DataType type = DataType::Undefined;  ///< for a Global or Storage with a type
};

/// The contents of a pickle. No object contains itself, the nesting is at most kDeepest, and the number of objects,
/// counted as often as they are contained, is at most kMostObjects, so that code may walk over it without checks.
struct Pickle {
  static constexpr int kDeepest = 64;
  static constexpr std::size_t kMostObjects = 4'000'000;
  std::vector<PickleValue> values;
  std::uint32_t root = 0;

  const PickleValue& at(std::uint32_t index) const { return values[index]; }
  const PickleValue& top() const { return values[root]; }
};

}  // namespace fusescope::torch
