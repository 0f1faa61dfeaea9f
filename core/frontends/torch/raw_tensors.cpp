#include "frontends/torch/raw_tensors.h"

#include <fmt/format.h>

#include "frontends/torch/exported_program.h"
#include "frontends/torch/program_graph.h"
#include "frontends/torch/saved_objects.h"
#include "frontends/torch/schema_fields.h"

namespace fusescope::torch {
namespace {

constexpr std::uint64_t kMostConfigBytes = std::uint64_t{256} << 20;

Result<std::vector<std::int64_t>> knownNumbers(const std::vector<SymbolicNumber>& numbers) {
  std::vector<std::int64_t> known;
  for (const SymbolicNumber& number : numbers) {
    if (!number.known) return Diagnostic{.message = "has an extent that is not a number"};
    known.push_back(*number.known);
  }
  return known;
}

Result<StorageWindow> windowOf(const TensorMeta& meta) {
  if (!meta.isStrided) return Diagnostic{.message = "is sparse, or has another layout that is not read here"};
  if (meta.type == DataType::Undefined)
    return Diagnostic{.message = fmt::format("is of the PyTorch type {}, which is not known here", meta.typeNumber)};
  StorageWindow window{.type = meta.type, .offset = meta.offset.known.value_or(0), .sizes = {}, .strides = {}};
  window.sizes = TRY(knownNumbers(meta.sizes));
  window.strides = TRY(knownNumbers(meta.strides));
  return window;
}

/// Returns a tensor of a class of its own, which is in a separate torch.save() file.
Result<Tensor> pickledTensor(const ZipMembers& members, const std::string& member, CopyBudget& budget) {
  const SavedObjects saved = TRY(SavedObjects::of(TRY(members.storage(member)), members.place(member)));
  if (saved.top().kind != PickleValue::Kind::Tensor)
    return Diagnostic{.message = "contains something other than a tensor",
                      .where = {.attribute = members.place(member)}};
  return saved.tensor(saved.top(), budget);
}

Result<Tensor> rawTensor(const ZipMembers& members, const std::string& member, const Json& described,
                         CopyBudget& budget) {
  const StorageWindow window = TRY(windowOf(TRY(tensorMetaOf(described))));
  const Storage storage = TRY(members.storage(member));
  const auto count = elementCount(window.sizes);
  if (storage.bytes.empty() && count && *count > 0) return Tensor::withoutData(window.type, window.sizes);
  return tensorOf(storage, window, budget);
}

/// Returns whether an entry describes a tensor; a custom object has no description.
bool isTensor(const Json& entry) {
  return entry.is_object() && entry.contains("tensor_meta") && entry.at("tensor_meta").is_object();
}

/// PyTorch accepts every value that Python treats as true. Here, a value other than true and false is refused.
Result<bool> saysPickled(const Json& entry) {
  const auto found = entry.find("use_pickle");
  if (found == entry.end()) return false;
  if (!found->is_boolean()) return Diagnostic{.message = "must be true or false", .where = {.attribute = "use_pickle"}};
  return found->get<bool>();
}

}  // namespace

Result<std::map<std::string, Tensor>> rawTensors(const ZipMembers& members, const std::string& config,
                                                 const std::string& folder, CopyBudget& budget) {
  const auto located = [&](Diagnostic error, const std::string& tensor) {
    if (error.where.attribute.find('/') == std::string::npos) error = within(std::move(error), members.place(config));
    error.where.value = tensor;
    return error;
  };
  const Json json = Json::parse(TRY(members.text(config, kMostConfigBytes)), nullptr, false);
  if (json.is_discarded()) return located({.message = "is not JSON"}, {});
  const auto entries = objectField(json, "config");
  if (!entries.ok()) return located(entries.error(), {});
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, entry] : entries.value()->items()) {
    if (!isTensor(entry)) continue;
    const auto path = textField(entry, "path_name");
    if (!path.ok()) return located(path.error(), name);
    const std::string member = folder + path.value();
    const auto isPickled = saysPickled(entry);
    if (!isPickled.ok()) return located(isPickled.error(), name);
    auto tensor = isPickled.value() ? pickledTensor(members, member, budget)
                                    : rawTensor(members, member, entry.at("tensor_meta"), budget);
    if (!tensor.ok()) return located(std::move(tensor).error(), name);
    tensors.insert_or_assign(name, std::move(tensor).value());
  }
  return tensors;
}

Status checkTensorsAlone(const ZipMembers& members, const std::string& config) {
  if (!members.has(config)) return Done{};
  const Json json = Json::parse(TRY(members.text(config, kMostConfigBytes)), nullptr, false);
  const Json* entries = TRY(objectField(json, "config"));
  for (const auto& [name, entry] : entries->items()) {
    if (!isTensor(entry))
      return Diagnostic{
          .message = "is an object other than a tensor, which PyTorch would unpickle; it is not passed to torch",
          .where = {.value = name, .attribute = members.place(config)}};
    if (auto pickled = saysPickled(entry); !pickled.ok()) {
      Diagnostic error = pickled.error();
      error.where.value = name;
      return error;
    }
  }
  return Done{};
}

}  // namespace fusescope::torch
