#include "backends/native/program.h"

#include <algorithm>
#include <array>

namespace fusescope::native {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kUsualBuffers = 128;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Where the address of a buffer comes from.
struct Place {
  enum class Of { Input, Output, Packed, Table, Scratch, Unused };
  Of of = Of::Unused;
  std::size_t at = 0;  ///< which one; of scratch: the offset
};

/// Steps over a table of addresses, which is made for each run: the program itself is never written to.
class Program final : public Code {
 public:
  struct Parts {
    std::vector<Place> places;  ///< by buffer
    std::vector<std::unique_ptr<Step>> steps;
    std::vector<Packing> packings;
    std::vector<Tensor> tables;
    std::vector<std::size_t> embedded;
    std::size_t scratchBytes = 0;
  };
  explicit Program(Parts parts) : m_parts(std::move(parts)) {
    for (const auto& step : m_parts.steps) m_stepBytes = std::max(m_stepBytes, step->scratchBytes());
    if (m_parts.places.size() > kUsualBuffers) m_tableBytes = aligned(m_parts.places.size() * sizeof(std::byte*));
  }

  std::size_t workspaceBytes() const override { return m_tableBytes + m_parts.scratchBytes + m_stepBytes; }
  std::span<const Packing> packings() const override { return m_parts.packings; }
  std::span<const std::size_t> embedded() const override { return m_parts.embedded; }

  Status run(Stream&, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
             std::span<const std::byte* const> packed, std::byte* workspace) const override {
    std::byte* const scratch = workspace + m_tableBytes;
    std::array<std::byte*, kUsualBuffers> few;
    auto* const addresses = m_tableBytes == 0 ? few.data() : reinterpret_cast<std::byte**>(workspace);
    for (std::size_t i = 0; i < m_parts.places.size(); ++i) {
      const Place& place = m_parts.places[i];
      addresses[i] = place.of == Place::Of::Input     ? const_cast<std::byte*>(inputs[place.at])
                     : place.of == Place::Of::Output  ? outputs[place.at]
                     : place.of == Place::Of::Packed  ? const_cast<std::byte*>(packed[place.at])
                     : place.of == Place::Of::Table   ? const_cast<std::byte*>(m_parts.tables[place.at].bytes())
                     : place.of == Place::Of::Scratch ? scratch + place.at
                                                      : nullptr;
    }
    const Memory memory(addresses, m_parts.places.size());
    for (const auto& step : m_parts.steps) TRY(step->run(memory, scratch + m_parts.scratchBytes));
    return Done{};
  }

 private:
  Parts m_parts;
  std::size_t m_tableBytes = 0;  ///< of the table in the workspace, where it is too long for the stack
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

BufferIndex ProgramBuilder::addPacked(Packing packing) {
  m_buffers.push_back({.packed = static_cast<int>(m_packings.size())});
  m_packings.push_back(std::move(packing));
  return static_cast<BufferIndex>(m_buffers.size() - 1);
}

BufferIndex ProgramBuilder::addTable(Tensor table) {
  m_buffers.push_back({.table = static_cast<int>(m_tables.size())});
  m_tables.push_back(std::move(table));
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

std::unique_ptr<const Code> ProgramBuilder::finish(std::vector<std::size_t> embedded) {
  placeScratch();
  Program::Parts parts{.embedded = std::move(embedded), .scratchBytes = m_scratchBytes};
  for (std::size_t i = 0; i < m_buffers.size(); ++i) {
    const Buffer& buffer = m_buffers[i];
    parts.places.push_back(i < m_inputs               ? Place{Place::Of::Input, i}
                           : i < m_inputs + m_outputs ? Place{Place::Of::Output, i - m_inputs}
                           : buffer.packed >= 0    ? Place{Place::Of::Packed, static_cast<std::size_t>(buffer.packed)}
                           : buffer.table >= 0     ? Place{Place::Of::Table, static_cast<std::size_t>(buffer.table)}
                           : buffer.firstStep >= 0 ? Place{Place::Of::Scratch, buffer.offset}
                                                   : Place{});
  }
  parts.steps = std::move(m_steps);
  parts.packings = std::move(m_packings);
  parts.tables = std::move(m_tables);
  return std::make_unique<const Program>(std::move(parts));
}

}  // namespace fusescope::native
