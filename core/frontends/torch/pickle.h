#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/data_type.h"
#include "base/result.h"

namespace fusescope::torch {

/// What a pickle may name. Everything else is refused: a name in a pickle is a function that a Python would call.
enum class PickleGlobal {
  RebuildTensor,       ///< torch._utils._rebuild_tensor_v2
  RebuildTypedTensor,  ///< torch._utils._rebuild_tensor_v3, whose elements' type is said apart from the storage
  RebuildParameter,    ///< torch._utils._rebuild_parameter: a tensor that training would change
  OrderedDict,         ///< collections.OrderedDict
  StorageType,         ///< torch.FloatStorage and its like
  UntypedStorage,      ///< torch.storage.UntypedStorage
  ElementType          ///< torch.float8_e4m3fn and its like
};

/// A tensor as a pickle describes it: a window on a storage, which is another member of the archive.
struct PickledTensor {
  std::string storage;  ///< the member's name below "data/"
  DataType type = DataType::Undefined;
  std::int64_t offset = 0;  ///< in elements, as the strides are
  std::vector<std::int64_t> sizes, strides;
};

/// One object of a pickle. Objects that it holds are named by their places in Pickle::values.
struct PickleValue {
  enum class Kind { None, Bool, Int, Float, Text, List, Tuple, Dict, Tensor, Global, Storage };
  Kind kind = Kind::None;
  bool flag = false;
  std::int64_t integer = 0;
  double number = 0;
  std::string text{};                  ///< of a Text; of a Storage its key
  std::vector<std::uint32_t> items{};  ///< of a List or Tuple; of a Dict keys and values by turns
  PickledTensor tensor{};
  PickleGlobal global = PickleGlobal::OrderedDict;
  DataType type = DataType::Undefined;  ///< of a Global or Storage that has one
};

/// What a pickle holds. No object holds itself, none is deeper than kDeepest, and all of them, counted as often as they
/// are held, are no more than kMostObjects: it can be walked without care.
struct Pickle {
  static constexpr int kDeepest = 64;
  static constexpr std::size_t kMostObjects = 4'000'000;
  std::vector<PickleValue> values;
  std::uint32_t root = 0;

  const PickleValue& at(std::uint32_t index) const { return values[index]; }
  const PickleValue& top() const { return values[root]; }
};

/// Reads the pickle of a file that torch.save() wrote, without running anything of it. It knows what tensors, lists,
/// tuples, dictionaries, numbers, texts and truth values are written with; see README.md for the list. Errors say at
/// which byte: another opcode or name, which one; what is cut short, not in order, or too much.
Result<Pickle> readPickle(std::span<const std::byte> bytes);

/// The meaning of `module name` in a pickle; nothing: it is refused.
struct KnownGlobal {
  PickleGlobal global;
  DataType type = DataType::Undefined;
};
std::optional<KnownGlobal> knownGlobal(std::string_view module, std::string_view name);

}  // namespace fusescope::torch
