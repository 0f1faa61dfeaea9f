#include "engine/kernel.h"

#include <algorithm>

namespace fusescope {

std::int64_t bytesOf(const PackedSet& weights) {
  std::int64_t bytes = 0;
  for (const auto& packed : weights)
    if (!packed->inFile) bytes += static_cast<std::int64_t>(packed->data.byteSize());
  return bytes;
}

Kernel::Kernel(std::shared_ptr<const Code> code, std::vector<std::shared_ptr<const Packed>> packed)
    : m_code(std::move(code)) {
  Weights weights{.packed = std::move(packed), .addresses = {}};
  for (const auto& weight : weights.packed) weights.addresses.push_back(weight->data.bytes());
  m_weights = std::make_shared<const Weights>(std::move(weights));
}

void Kernel::rename(std::shared_ptr<const NodeNames> compiled, std::shared_ptr<const NodeNames> own) {
  m_compiledNames = std::move(compiled);
  m_names = std::move(own);
}

std::shared_ptr<const Kernel> Kernel::withCode(std::shared_ptr<const Code> code,
                                               std::shared_ptr<const NodeNames> compiled) const {
  const auto isLike = [](const Packing& a, const Packing& b) {
    return a.form == b.form && a.weightSlots == b.weightSlots;
  };
  const std::span<const Packing> own = m_code->packings(), wanted = code->packings();
  if ((own.data() != wanted.data() && !std::ranges::equal(own, wanted, isLike)) ||
      !std::ranges::equal(m_code->embedded(), code->embedded()))
    return nullptr;
  auto kernel = std::make_shared<Kernel>(*this);
  kernel->m_code = std::move(code);
  kernel->m_compiledNames = std::move(compiled);
  return kernel;
}

Status Kernel::run(Stream& stream, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                   std::byte* workspace) const {
  Status status = m_code->run(stream, inputs, outputs, m_weights->addresses, workspace);
  if (status.ok()) return status;
  return own(std::move(status).error());
}

Diagnostic Kernel::own(Diagnostic error) const {
  if (m_compiledNames == m_names) return error;
  const auto compiled = std::ranges::find(*m_compiledNames, error.where.node);
  if (compiled != m_compiledNames->end())
    error.where.node = (*m_names)[static_cast<std::size_t>(compiled - m_compiledNames->begin())];
  return error;
}

}  // namespace fusescope
