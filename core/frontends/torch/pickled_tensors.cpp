#include "frontends/torch/pickled_tensors.h"

namespace fusescope::torch {
namespace {

using Kind = PickleValue::Kind;

/// Returns the integers of a tuple (torch.Size is written as one), or nothing if it contains something else.
std::optional<std::vector<std::int64_t>> integersOf(const Pickle& pickle, const PickleValue& tuple) {
  if (tuple.kind != Kind::Tuple) return std::nullopt;
  std::vector<std::int64_t> integers;
  for (const std::uint32_t item : tuple.items) {
    if (pickle.at(item).kind != Kind::Int) return std::nullopt;
    integers.push_back(pickle.at(item).integer);
  }
  return integers;
}

/// The arguments are (storage, offset, sizes, strides, requires_grad, hooks), followed by the element type if the
/// storage has none, and sometimes by metadata, which no tensor here needs.
Result<PickleValue> describedTensor(const Pickle& pickle, const std::vector<std::uint32_t>& arguments, bool isTyped) {
  const Diagnostic wrong{.message = "describes a tensor in a way that torch.save() does not"};
  if (arguments.size() < (isTyped ? 7u : 6u) || arguments.size() > 8) return wrong;
  const PickleValue& storage = pickle.at(arguments[0]);
  const auto sizes = integersOf(pickle, pickle.at(arguments[2]));
  const auto strides = integersOf(pickle, pickle.at(arguments[3]));
  if (storage.kind != Kind::Storage || pickle.at(arguments[1]).kind != Kind::Int || !sizes || !strides) return wrong;
  DataType type = storage.type;
  if (isTyped) {
    const PickleValue& said = pickle.at(arguments[6]);
    if (said.kind != Kind::Global || said.global != PickleGlobal::ElementType) return wrong;
    type = said.type;
  }
  if (type == DataType::Undefined) return Diagnostic{.message = "describes a tensor without the type of its elements"};
  return PickleValue{.kind = Kind::Tensor,
                     .tensor = {.storage = storage.text,
                                .type = type,
                                .offset = pickle.at(arguments[1]).integer,
                                .sizes = *sizes,
                                .strides = *strides}};
}

}  // namespace

Result<PickleValue> madeByCall(const Pickle& pickle, std::uint32_t callee, std::uint32_t arguments) {
  const PickleValue& called = pickle.at(callee);
  const PickleValue& given = pickle.at(arguments);
  if (called.kind != Kind::Global || given.kind != Kind::Tuple)
    return Diagnostic{.message = "calls something that cannot be called"};
  switch (called.global) {
    case PickleGlobal::RebuildTensor:
      return describedTensor(pickle, given.items, false);
    case PickleGlobal::RebuildTypedTensor:
      return describedTensor(pickle, given.items, true);
    case PickleGlobal::RebuildParameter:
      if (given.items.size() != 3 || pickle.at(given.items[0]).kind != Kind::Tensor)
        return Diagnostic{.message = "describes a parameter in a way that torch.save() does not"};
      return pickle.at(given.items[0]);
    case PickleGlobal::OrderedDict:
      if (!given.items.empty()) return Diagnostic{.message = "makes a dictionary of something other than its items"};
      return PickleValue{.kind = Kind::Dict};
    default:
      return Diagnostic{.message = "calls something that cannot be called"};
  }
}

Result<PickleValue> storageOf(const Pickle& pickle, std::uint32_t id) {
  const Diagnostic wrong{.message = "names a storage in a way that torch.save() does not"};
  const PickleValue& tuple = pickle.at(id);
  if (tuple.kind != Kind::Tuple || tuple.items.size() != 5) return wrong;
  const PickleValue& type = pickle.at(tuple.items[1]);
  const PickleValue& key = pickle.at(tuple.items[2]);
  const bool isStorage = type.kind == Kind::Global &&
                         (type.global == PickleGlobal::StorageType || type.global == PickleGlobal::UntypedStorage);
  if (pickle.at(tuple.items[0]).text != "storage" || !isStorage || key.kind != Kind::Text) return wrong;
  return PickleValue{.kind = Kind::Storage, .text = key.text, .type = type.type};
}

}  // namespace fusescope::torch
