#include "engine/kernels/kernel.h"

#include <algorithm>

namespace fusescope {

Status Packed::pack() const {
  const std::lock_guard lock(m_mutex);
  if (m_data == nullptr) m_data = TRY(m_pack());
  return Done{};
}

std::shared_ptr<const Packed::Data> Packed::data() const {
  const std::lock_guard lock(m_mutex);
  return m_data;
}

std::int64_t bytesOf(const PackedSet& weights, const PackedSet& known) {
  std::set<const void*> counted;  // weights of equal content share their data
  for (const auto& packed : known) counted.insert(packed->data().get());
  std::int64_t bytes = 0;
  for (const auto& packed : weights)
    if (const auto data = packed->data(); data != nullptr && counted.insert(data.get()).second && !data->inFile)
      bytes += static_cast<std::int64_t>(data->tensor.byteSize());
  return bytes;
}

Kernel::Kernel(std::shared_ptr<const Code> code, std::vector<std::shared_ptr<const Packed>> packed)
    : m_code(std::move(code)), m_weights(std::make_shared<const Weights>(std::move(packed))) {}

Status Kernel::packWeights() const {
  const Weights& weights = *m_weights;
  if (weights.arePacked.load(std::memory_order_acquire)) return Done{};
  const std::lock_guard lock(weights.mutex);
  if (weights.arePacked.load(std::memory_order_relaxed)) return Done{};
  std::vector<const std::byte*> addresses;
  for (const auto& weight : weights.packed) {
    TRY(weight->pack());
    addresses.push_back(weight->data()->tensor.bytes());
  }
  weights.addresses = std::move(addresses);
  weights.arePacked.store(true, std::memory_order_release);
  return Done{};
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
  TRY(packWeights());
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
