#include "frontends/torch/saved_objects.h"

#include "frontends/torch/pickle_reader.h"

namespace fusescope::torch {
namespace {

using Kind = PickleValue::Kind;

constexpr std::uint64_t kMostPickleBytes = std::uint64_t{64} << 20;

}  // namespace

Result<SavedObjects> SavedObjects::of(Storage archive, std::string within) {
  SavedObjects saved(TRY(ZipMembers::of(std::move(archive), std::move(within))));
  saved.m_root = saved.m_members.rootFolder() + "/";
  const std::string order = saved.m_root + "byteorder", pickle = saved.m_root + "data.pkl";
  if (saved.m_members.has(order) && TRY(saved.m_members.text(order, 64)) != "little")
    return Diagnostic{.message = "was written on a big-endian machine, which is not supported",
                      .where = {.attribute = saved.m_members.place(order)}};
  const std::string bytes = TRY(saved.m_members.text(pickle, kMostPickleBytes));
  auto read = readPickle(std::as_bytes(std::span(bytes)));
  if (!read.ok()) {
    Diagnostic error = std::move(read).error();
    error.where.attribute = saved.m_members.place(pickle);
    return error;
  }
  saved.m_pickle = std::move(read).value();
  return saved;
}

Result<Tensor> SavedObjects::tensor(const PickleValue& value, CopyBudget& budget) const {
  const PickledTensor& described = value.tensor;
  const std::string member = m_root + "data/" + described.storage;
  auto tensor = tensorOf(
      TRY(m_members.storage(member)),
      {.type = described.type, .offset = described.offset, .sizes = described.sizes, .strides = described.strides},
      budget);
  if (tensor.ok()) return tensor;
  Diagnostic error = std::move(tensor).error();
  error.where.attribute = m_members.place(member);
  return error;
}

Result<std::map<std::string, Tensor>> SavedObjects::tensorsByName(CopyBudget& budget) const {
  const auto wrong = [&](const char* message) {
    return Diagnostic{.message = message, .where = {.attribute = m_members.place(m_root + "data.pkl")}};
  };
  if (top().kind != Kind::Dict) return wrong("is not a dictionary of tensors");
  std::map<std::string, Tensor> tensors;
  for (std::size_t i = 0; i + 1 < top().items.size(); i += 2) {
    const PickleValue& key = at(top().items[i]);
    const PickleValue& value = at(top().items[i + 1]);
    if (key.kind != Kind::Text) return wrong("has a key that is not a string");
    if (value.kind != Kind::Tensor) return wrong("contains something other than tensors");
    auto tensor = this->tensor(value, budget);
    if (!tensor.ok()) {
      Diagnostic error = std::move(tensor).error();
      error.where.value = key.text;
      return error;
    }
    tensors.insert_or_assign(key.text, std::move(tensor).value());
  }
  return tensors;
}

}  // namespace fusescope::torch
