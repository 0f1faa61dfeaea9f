#include "backends/native/region_program.h"

#include <algorithm>
#include <array>

namespace fusescope::native {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kUsualBuffers = 128;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// The origin of a buffer's address.
struct Place {
  enum class Of { Input, Output, Packed, Table, Scratch, Unused };
  Of of = Of::Unused;
  std::size_t at = 0;  ///< its index; for scratch, its offset
};

/// A scratch buffer, which steps `first` to `last` use.
struct Scratch {
  std::size_t buffer = 0, bytes = 0;
  int first = 0, last = 0;
  std::size_t offset = 0;
};

/// The parts of a program that do not depend on extents, except the places of scratch buffers.
struct Layout {
  std::vector<Place> places;  ///< by buffer
  std::vector<Scratch> scratch;
  ScratchValues scratchValues;
  std::vector<Packing> packings;
  std::vector<Tensor> tables;
  std::vector<std::size_t> embedded;
  std::vector<std::vector<BufferIndex>> touched;  ///< the buffers that each step uses
  std::size_t scratchBytes = 0;
};

// First fit: each buffer gets the lowest place that does not overlap a buffer which is in use at the same time.
void placeScratch(Layout& layout) {
  layout.scratchBytes = 0;
  std::vector<const Scratch*> placed;
  for (Scratch& scratch : layout.scratch) {
    std::vector<const Scratch*> rivals;
    for (const Scratch* other : placed)
      if (other->first <= scratch.last && scratch.first <= other->last) rivals.push_back(other);
    std::ranges::sort(rivals, {}, &Scratch::offset);
    scratch.offset = 0;
    for (const Scratch* other : rivals) {
      if (scratch.offset + scratch.bytes <= other->offset) break;
      scratch.offset = std::max(scratch.offset, other->offset + other->bytes);
    }
    placed.push_back(&scratch);
    layout.places[scratch.buffer] = {Place::Of::Scratch, scratch.offset};
    layout.scratchBytes = std::max(layout.scratchBytes, scratch.offset + scratch.bytes);
  }
}

/// Returns a layout whose scratch buffers are large enough for `extents`. A buffer that is too small gets half as much
/// again as it needs, so that slowly growing extents seldom change the layout.
std::shared_ptr<const Layout> layoutFor(const std::shared_ptr<const Layout>& layout, const RegionExtents& extents) {
  std::shared_ptr<Layout> grown;
  for (std::size_t i = 0; i < layout->scratch.size(); ++i) {
    const std::optional<ScratchContents>& of = layout->scratchValues[layout->scratch[i].buffer];
    const std::size_t needed = of ? byteSize(of->type, productOf(of->extents.in(extents), 0)) : 0;
    if (needed <= layout->scratch[i].bytes) continue;
    if (grown == nullptr) grown = std::make_shared<Layout>(*layout);
    grown->scratch[i].bytes = aligned(needed + needed / 2);
  }
  if (grown == nullptr) return layout;
  placeScratch(*grown);
  return grown;
}

/// A program of steps that find their buffers in a table of addresses. Each run makes its own table, and the program
/// itself is never written to.
class Program final : public Code {
 public:
  using Steps = std::vector<std::shared_ptr<const Step>>;
  Program(std::shared_ptr<const Layout> layout, Steps steps) : m_layout(std::move(layout)), m_steps(std::move(steps)) {
    for (const auto& step : m_steps) m_stepBytes = std::max(m_stepBytes, step->scratchBytes());
    if (m_layout->places.size() > kUsualBuffers) m_tableBytes = aligned(m_layout->places.size() * sizeof(std::byte*));
  }

  std::size_t workspaceBytes() const override { return m_tableBytes + m_layout->scratchBytes + m_stepBytes; }
  std::span<const Packing> packings() const override { return m_layout->packings; }
  std::span<const std::size_t> embedded() const override { return m_layout->embedded; }

  std::shared_ptr<const Code> forExtents(const RegionExtents& from, const RegionExtents& to) const override {
    const NewExtents changed(from, to, m_layout->scratchValues);
    Steps steps;
    steps.reserve(m_steps.size());
    for (std::size_t i = 0; i < m_steps.size(); ++i) {
      const std::vector<BufferIndex>& touched = m_layout->touched[i];
      const bool isOpen = changed.changesInside() ||
                          std::ranges::any_of(touched, [&](BufferIndex buffer) { return changed.changes(buffer); });
      // The size and contents of other scratch buffers follow from the extents in a way that only a lowering knows.
      if (isOpen && std::ranges::any_of(touched, [&](BufferIndex buffer) { return isOtherScratch(buffer); }))
        return nullptr;
      steps.push_back(isOpen ? m_steps[i]->forExtents(changed) : m_steps[i]);
      if (steps.back() == nullptr) return nullptr;
    }
    return std::make_shared<const Program>(layoutFor(m_layout, to), std::move(steps));
  }

  Status run(Stream&, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
             std::span<const std::byte* const> packed, std::byte* workspace) const override {
    std::byte* const scratch = workspace + m_tableBytes;
    std::array<std::byte*, kUsualBuffers> few;
    auto* const addresses = m_tableBytes == 0 ? few.data() : reinterpret_cast<std::byte**>(workspace);
    const std::vector<Place>& places = m_layout->places;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Place& place = places[i];
      addresses[i] = place.of == Place::Of::Input     ? const_cast<std::byte*>(inputs[place.at])
                     : place.of == Place::Of::Output  ? outputs[place.at]
                     : place.of == Place::Of::Packed  ? const_cast<std::byte*>(packed[place.at])
                     : place.of == Place::Of::Table   ? const_cast<std::byte*>(m_layout->tables[place.at].bytes())
                     : place.of == Place::Of::Scratch ? scratch + place.at
                                                      : nullptr;
    }
    const Memory memory(addresses, places.size());
    for (const auto& step : m_steps) TRY(step->run(memory, scratch + m_layout->scratchBytes));
    return Done{};
  }

 private:
  bool isOtherScratch(BufferIndex buffer) const {
    const auto at = static_cast<std::size_t>(buffer);
    return m_layout->places[at].of == Place::Of::Scratch && !m_layout->scratchValues[at];
  }

  std::shared_ptr<const Layout> m_layout;
  Steps m_steps;
  std::size_t m_tableBytes = 0;  ///< size of the table in the workspace, if it is too long for the stack
  std::size_t m_stepBytes = 0;
};

}  // namespace

const Dims& ExtentSource::in(const RegionExtents& extents) const {
  switch (from) {
    case From::Input:
      return extents.inputs[at];
    case From::Output:
      return extents.outputs[at];
    case From::Inner:
      return extents.inner[at];
    case From::Constant:
      break;
  }
  return constant;
}

NewExtents::NewExtents(const RegionExtents& before, const RegionExtents& after, const ScratchValues& scratch)
    : m_before(before), m_after(after), m_scratch(scratch), m_changesInside(before.inner != after.inner) {}

const Dims* NewExtents::find(const RegionExtents& extents, BufferIndex buffer) const {
  const auto at = static_cast<std::size_t>(buffer), inputs = extents.inputs.size();
  if (at < inputs) return &extents.inputs[at];
  if (at < inputs + extents.outputs.size()) return &extents.outputs[at - inputs];
  return at < m_scratch.size() && m_scratch[at] ? &m_scratch[at]->extents.in(extents) : nullptr;
}

bool NewExtents::changes(BufferIndex buffer) const {
  const Dims* before = find(m_before, buffer);
  return before != nullptr && *before != *find(m_after, buffer);
}

std::optional<Ref> NewExtents::at(const Ref& ref) const {
  const Dims* before = find(m_before, ref.buffer);
  if (before == nullptr) return ref;
  const bool isWhole = ref.isWhole && ref.offset == 0 && ref.dims == *before && ref.contiguous();
  if (!changes(ref.buffer)) return isWhole || !m_changesInside ? std::optional(ref) : std::nullopt;
  if (!isWhole) return std::nullopt;
  Ref changed = ref;
  changed.dims = *find(m_after, ref.buffer);
  changed.strides = rowMajorStrides(changed.dims);
  return changed;
}

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

bool broadcasts(const Dims& dims, const Dims& domain) {
  if (dims.size() > domain.size()) return false;
  const auto fits = [](std::int64_t own, std::int64_t wanted) { return own == wanted || own == 1; };
  return std::equal(dims.rbegin(), dims.rend(), domain.rbegin(), fits);
}

Dims broadcastStrides(const Ref& ref, const Dims& domain) {
  Dims strides(domain.size(), 0);
  const std::size_t lead = domain.size() - ref.dims.size();
  for (std::size_t i = 0; i < ref.dims.size(); ++i) strides[lead + i] = ref.dims[i] == 1 ? 0 : ref.strides[i];
  return strides;
}

Ref broadcast(Ref ref, const Dims& domain) {
  ref.isWhole = ref.isWhole && ref.dims == domain;
  ref.strides = broadcastStrides(ref, domain);
  ref.dims = domain;
  return ref;
}

bool hasPlainLayout(const Ref& ref) {
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

BufferIndex ProgramBuilder::addScratch(std::size_t bytes, std::optional<ScratchContents> of) {
  m_buffers.push_back({.bytes = std::max<std::size_t>(aligned(bytes), kAlignment), .of = std::move(of)});
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
  std::vector<BufferIndex>& touched = m_touched.emplace_back(reads);
  touched.insert(touched.end(), writes.begin(), writes.end());
}

std::unique_ptr<const Code> ProgramBuilder::finish(std::vector<std::size_t> embedded) {
  Layout layout{.embedded = std::move(embedded), .touched = std::move(m_touched)};
  for (std::size_t i = 0; i < m_buffers.size(); ++i) {
    const Buffer& buffer = m_buffers[i];
    layout.places.push_back(i < m_inputs               ? Place{Place::Of::Input, i}
                            : i < m_inputs + m_outputs ? Place{Place::Of::Output, i - m_inputs}
                            : buffer.packed >= 0 ? Place{Place::Of::Packed, static_cast<std::size_t>(buffer.packed)}
                            : buffer.table >= 0  ? Place{Place::Of::Table, static_cast<std::size_t>(buffer.table)}
                                                 : Place{});
    layout.scratchValues.push_back(buffer.of);
    if (buffer.bytes > 0 && buffer.firstStep >= 0)
      layout.scratch.push_back(
          {.buffer = i, .bytes = buffer.bytes, .first = buffer.firstStep, .last = buffer.lastStep});
  }
  placeScratch(layout);
  layout.packings = std::move(m_packings);
  layout.tables = std::move(m_tables);
  return std::make_unique<const Program>(std::make_shared<const Layout>(std::move(layout)), std::move(m_steps));
}

}  // namespace fusescope::native
