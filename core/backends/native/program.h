#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/backend.h"

namespace fusescope::native {

/// The address of each buffer of a program while it runs.
using Memory = std::span<std::byte* const>;

/// Names a buffer of a program: an input, an output, a packed weight, a table of its own, or scratch.
using BufferIndex = int;
inline constexpr BufferIndex kNoBuffer = -1;

/// A tensor inside a program: where its elements are. In the plain format they are found by `strides` (in elements,
/// 0 for a broadcast axis); in other formats the buffer holds the whole tensor densely and `strides` is empty.
struct Ref {
  BufferIndex buffer = kNoBuffer;
  std::int64_t offset = 0;  ///< in elements
  DataType dtype = DataType::Undefined;
  Dims dims;
  Dims strides;
  MemoryFormat format;
  bool isWhole = false;  ///< all of an operand, or of scratch for one value, as it lies, whatever its extents are

  std::int64_t count() const;
  bool contiguous() const;  ///< plain, row-major, without gaps
  TensorDesc desc() const { return {dtype, dims, format}; }
};

/// Where the first element of `ref` lies.
inline std::byte* bytesAt(const Ref& ref, Memory memory) {
  return memory[static_cast<std::size_t>(ref.buffer)] + byteSize(ref.dtype, ref.offset);
}

/// The same, typed: a T is as wide as an element of `ref`.
template <class T>
T* elementsAt(const Ref& ref, Memory memory) {
  return reinterpret_cast<T*>(memory[static_cast<std::size_t>(ref.buffer)]) + ref.offset;
}

/// Row-major strides of `dims`.
Dims rowMajorStrides(const Dims& dims);

/// Whether a tensor of extents `dims` repeats over `domain`.
bool broadcasts(const Dims& dims, const Dims& domain);
/// Strides for reading `ref`, which is plain, over the extents `domain`: 0 where it repeats.
Dims broadcastStrides(const Ref& ref, const Dims& domain);
/// `ref`, which is plain, seen with the extents `domain`.
Ref broadcast(Ref ref, const Dims& domain);

/// Whether the tensor lies as it would in the plain format, as one of whole blocks whose spatial extents are 1.
bool formatIsMoot(const Ref& ref);

/// Product of the extents from axis `begin` up to `end`, or to the last axis.
std::int64_t productOf(const Dims& dims, std::size_t begin, std::size_t end = std::numeric_limits<std::size_t>::max());

/// `axis` counted from the front.
std::size_t positiveAxis(std::int64_t axis, std::size_t rank);

/// Where the extents of a value of a region stand; those of a constant are always the same.
struct ExtentsOf {
  enum class Of { Input, Output, Inner, Constant } of = Of::Constant;
  std::size_t at = 0;  ///< in RegionExtents
  Dims constant;
  const Dims& in(const RegionExtents& extents) const;
};

/// What scratch is for: a value of the region, row-major.
struct ScratchOf {
  DataType type = DataType::Undefined;
  ExtentsOf extents;
};
/// By buffer; nothing for what is no scratch, or for something else.
using ScratchValues = std::vector<std::optional<ScratchOf>>;

/// Extents of a region before and after they changed, as its program meets them.
class NewExtents {
 public:
  NewExtents(const RegionExtents& before, const RegionExtents& after, const ScratchValues& scratch);
  const RegionExtents& after() const { return m_after; }
  /// Whether those of what lies in it changed, as far as that is known.
  bool changes(BufferIndex buffer) const;
  /// Whether those of a value changed that is neither.
  bool changesInside() const { return m_changesInside; }
  /// `ref` at the extents after: itself, or all of a buffer whose extents changed. Nothing for what may have been
  /// worked out of extents that changed, as views are.
  std::optional<Ref> at(const Ref& ref) const;

 private:
  /// Null for a buffer that is no operand, and no scratch for one value.
  const Dims* find(const RegionExtents& extents, BufferIndex buffer) const;

  const RegionExtents &m_before, &m_after;
  const ScratchValues& m_scratch;
  bool m_changesInside;
};

/// One prepared call, const and re-entrant. All memory is given; run() allocates nothing.
class Step {
 public:
  virtual ~Step() = default;
  virtual Status run(Memory memory, std::byte* scratch) const = 0;
  virtual std::size_t scratchBytes() const { return 0; }
  /// The same call where what it touches has other extents. Null where it must be prepared anew.
  virtual std::unique_ptr<const Step> forExtents(const NewExtents& extents) const {
    static_cast<void>(extents);
    return nullptr;
  }
};

/// Collects steps and buffers, places the scratch buffers by liveness, and gives the code.
class ProgramBuilder {
 public:
  ProgramBuilder(std::size_t inputs, std::size_t outputs) : m_inputs(inputs), m_outputs(outputs) {
    m_buffers.resize(inputs + outputs);
  }
  BufferIndex input(std::size_t i) const { return static_cast<BufferIndex>(i); }
  BufferIndex output(std::size_t i) const { return static_cast<BufferIndex>(m_inputs + i); }
  /// `of`: what it holds, where that is all of one value; nothing: it is for these extents alone.
  BufferIndex addScratch(std::size_t bytes, std::optional<ScratchOf> of = std::nullopt);
  /// A weight, which is given at run time as `packing` says.
  BufferIndex addPacked(Packing packing);
  /// A table that the code holds itself: nothing of the region's weights.
  BufferIndex addTable(Tensor table);
  /// `reads` and `writes` are all the buffers the step touches: they say how long scratch lives.
  void addStep(std::unique_ptr<Step> step, const std::vector<BufferIndex>& reads,
               const std::vector<BufferIndex>& writes);
  bool isScratch(BufferIndex buffer) const { return m_buffers[buffer].bytes > 0; }
  /// `embedded`: as Code::embedded().
  std::unique_ptr<const Code> finish(std::vector<std::size_t> embedded = {});

 private:
  struct Buffer {
    std::size_t bytes = 0;  ///< of scratch; 0 for the others
    int packed = -1, table = -1;
    int firstStep = -1, lastStep = -1;
    std::optional<ScratchOf> of;
  };

  std::size_t m_inputs, m_outputs;
  std::vector<Buffer> m_buffers;
  std::vector<Packing> m_packings;
  std::vector<Tensor> m_tables;
  std::vector<std::shared_ptr<const Step>> m_steps;
  std::vector<std::vector<BufferIndex>> m_touched;  ///< by step
};

}  // namespace fusescope::native
