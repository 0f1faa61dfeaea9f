#include "backends/native/program.h"

#include <algorithm>

namespace fusescope::native {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

class Program final : public Kernel {
 public:
  struct Patch {
    std::size_t buffer;
    std::size_t offset;
  };

  Program(std::size_t inputs, std::size_t outputs, std::vector<std::byte*> addresses, std::vector<Patch> scratch,
          std::vector<std::unique_ptr<Step>> steps, std::vector<Tensor> constants, std::size_t bufferBytes)
      : m_inputs(inputs),
        m_outputs(outputs),
        m_addresses(std::move(addresses)),
        m_scratch(std::move(scratch)),
        m_steps(std::move(steps)),
        m_constants(std::move(constants)),
        m_bufferBytes(bufferBytes) {
    for (const auto& step : m_steps) m_stepBytes = std::max(m_stepBytes, step->scratchBytes());
  }

  std::size_t scratchBytes() const override { return m_bufferBytes + m_stepBytes; }

  std::size_t weightBytes() const override {
    std::size_t bytes = 0;
    for (const auto& step : m_steps) bytes += step->weightBytes();
    return bytes;
  }

  Status run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
             std::byte* scratch) override {
    for (std::size_t i = 0; i < m_inputs; ++i) m_addresses[i] = const_cast<std::byte*>(inputs[i]);
    for (std::size_t i = 0; i < m_outputs; ++i) m_addresses[m_inputs + i] = outputs[i];
    for (const Patch& patch : m_scratch) m_addresses[patch.buffer] = scratch + patch.offset;
    for (const auto& step : m_steps) TRY(step->run(m_addresses, scratch + m_bufferBytes));
    return Done{};
  }

 private:
  std::size_t m_inputs, m_outputs;
  std::vector<std::byte*> m_addresses;
  std::vector<Patch> m_scratch;
  std::vector<std::unique_ptr<Step>> m_steps;
  std::vector<Tensor> m_constants;
  std::size_t m_bufferBytes = 0;
  std::size_t m_stepBytes = 0;
};

}  // namespace

std::int64_t Ref::count() const {
  return productOf(dims, 0);
}

bool Ref::contiguous() const {
  if (!format.isPlain()) return false;
  std::int64_t expected = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (dims[i] != 1 && strides[i] != expected) return false;
    expected *= dims[i];
  }
  return true;
}

Dims rowMajorStrides(const Dims& dims) {
  Dims strides(dims.size());
  std::int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

Dims broadcastStrides(const Ref& ref, const Dims& domain) {
  Dims strides(domain.size(), 0);
  const std::size_t lead = domain.size() - ref.dims.size();
  for (std::size_t i = 0; i < ref.dims.size(); ++i) strides[lead + i] = ref.dims[i] == 1 ? 0 : ref.strides[i];
  return strides;
}

Ref broadcast(Ref ref, const Dims& domain) {
  ref.strides = broadcastStrides(ref, domain);
  ref.dims = domain;
  return ref;
}

bool formatIsMoot(const Ref& ref) {
  if (ref.format.padded(ref.dims) != ref.dims) return false;
  const Ref seen{.dims = ref.format.memoryExtents(ref.dims),
                 .strides = ref.format.memoryStrides(rowMajorStrides(ref.dims))};
  return seen.contiguous();
}

std::int64_t productOf(const Dims& dims, std::size_t begin, std::size_t end) {
  std::int64_t product = 1;
  for (std::size_t i = begin; i < std::min(end, dims.size()); ++i) product *= dims[i];
  return product;
}

std::size_t positiveAxis(std::int64_t axis, std::size_t rank) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

BufferIndex ProgramBuilder::addScratch(std::size_t bytes) {
  m_buffers.push_back({.bytes = std::max<std::size_t>(aligned(bytes), kAlignment)});
  return static_cast<BufferIndex>(m_buffers.size() - 1);
}

BufferIndex ProgramBuilder::addConstant(Tensor tensor) {
  m_buffers.push_back({.constant = static_cast<int>(m_constants.size())});
  m_constants.push_back(std::move(tensor));
  return static_cast<BufferIndex>(m_buffers.size() - 1);
}

void ProgramBuilder::addStep(std::unique_ptr<Step> step, const std::vector<BufferIndex>& reads,
                             const std::vector<BufferIndex>& writes) {
  const int index = static_cast<int>(m_steps.size());
  for (const auto* list : {&reads, &writes}) {
    for (BufferIndex buffer : *list) {
      Buffer& used = m_buffers[static_cast<std::size_t>(buffer)];
      if (used.firstStep < 0) used.firstStep = index;
      used.lastStep = index;
    }
  }
  m_steps.push_back(std::move(step));
}

// First fit: each buffer goes to the lowest place that no buffer alive at the same time holds.
void ProgramBuilder::placeScratch() {
  std::vector<const Buffer*> placed;
  for (Buffer& buffer : m_buffers) {
    if (buffer.bytes == 0 || buffer.firstStep < 0) continue;
    std::vector<const Buffer*> rivals;
    for (const Buffer* other : placed) {
      if (other->firstStep <= buffer.lastStep && buffer.firstStep <= other->lastStep) rivals.push_back(other);
    }
    std::sort(rivals.begin(), rivals.end(), [](auto* a, auto* b) { return a->offset < b->offset; });
    for (const Buffer* other : rivals) {
      if (buffer.offset + buffer.bytes <= other->offset) break;
      buffer.offset = std::max(buffer.offset, other->offset + other->bytes);
    }
    placed.push_back(&buffer);
    m_scratchBytes = std::max(m_scratchBytes, buffer.offset + buffer.bytes);
  }
}

std::unique_ptr<Kernel> ProgramBuilder::finish() {
  placeScratch();
  std::vector<std::byte*> addresses(m_buffers.size(), nullptr);
  std::vector<Program::Patch> patches;
  for (std::size_t i = 0; i < m_buffers.size(); ++i) {
    const Buffer& buffer = m_buffers[i];
    if (buffer.constant >= 0) {
      addresses[i] = const_cast<std::byte*>(m_constants[static_cast<std::size_t>(buffer.constant)].bytes());
    }
    if (buffer.bytes > 0 && buffer.firstStep >= 0) patches.push_back({i, buffer.offset});
  }
  return std::make_unique<Program>(m_inputs, m_outputs, std::move(addresses), std::move(patches), std::move(m_steps),
                                   std::move(m_constants), m_scratchBytes);
}

}  // namespace fusescope::native
