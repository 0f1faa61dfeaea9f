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

/// The index of a buffer of a program: an input, an output, a packed weight, a table of its own, or scratch.
using BufferIndex = int;
inline constexpr BufferIndex kNoBuffer = -1;

/// A tensor inside a program: where its elements are. In the plain format elements are found by `strides` (in elements,
/// 0 for a broadcast axis); in other formats the buffer contains the whole dense tensor and `strides` is empty.
struct Ref {
  BufferIndex buffer = kNoBuffer;
  std::int64_t offset = 0;  ///< in elements
  DataType dtype = DataType::Undefined;
  Dims dims;
  Dims strides;
  MemoryFormat format;
  /// The tensor is all of an operand, or of scratch memory for one value, in its own layout, for any extents.
  bool isWhole = false;

  std::int64_t count() const;
  bool contiguous() const;  ///< plain, row-major, without gaps
  TensorDesc desc() const { return {dtype, dims, format}; }
};

/// Returns the address of the first element of `ref`.
inline std::byte* bytesAt(const Ref& ref, Memory memory) {
  return memory[static_cast<std::size_t>(ref.buffer)] + byteSize(ref.dtype, ref.offset);
}

/// Returns it as a pointer to T, which must be as wide as an element of `ref`.
template <class T>
T* elementsAt(const Ref& ref, Memory memory) {
  return reinterpret_cast<T*>(memory[static_cast<std::size_t>(ref.buffer)]) + ref.offset;
}

/// Returns the row-major strides of `dims`.
Dims rowMajorStrides(const Dims& dims);

/// Returns whether a tensor of extents `dims` can be broadcast to `domain`.
bool broadcasts(const Dims& dims, const Dims& domain);
/// Returns the strides for reading `ref`, which is plain, over the extents `domain`: 0 on broadcast axes.
Dims broadcastStrides(const Ref& ref, const Dims& domain);
/// Returns `ref`, which is plain, broadcast to the extents `domain`.
Ref broadcast(Ref ref, const Dims& domain);

/// Returns whether the tensor has the same layout as in the plain format; this is true for whole blocks whose spatial
/// extents are 1.
bool hasPlainLayout(const Ref& ref);

/// Returns the product of the extents of axes [begin, end), or of all axes from `begin` on.
std::int64_t productOf(const Dims& dims, std::size_t begin, std::size_t end = std::numeric_limits<std::size_t>::max());

/// Returns `axis` counted from the front; a negative one counts from the back.
std::size_t positiveAxis(std::int64_t axis, std::size_t rank);

/// Says where the extents of a value of a region are in RegionExtents; those of a constant never change.
struct ExtentSource {
  enum class From { Input, Output, Inner, Constant } from = From::Constant;
  std::size_t at = 0;  ///< index in RegionExtents
  Dims constant;
  const Dims& in(const RegionExtents& extents) const;
};

/// The value of the region that a scratch buffer contains, in row-major order.
struct ScratchContents {
  DataType type = DataType::Undefined;
  ExtentSource extents;
};
/// One entry for each buffer, which is nothing for a buffer that is not scratch or contains something else.
using ScratchValues = std::vector<std::optional<ScratchContents>>;

/// The extents of a region before and after a change, for the steps of its program.
class NewExtents {
 public:
  NewExtents(const RegionExtents& before, const RegionExtents& after, const ScratchValues& scratch);
  const RegionExtents& after() const { return m_after; }
  /// Returns whether the extents of the value in this buffer changed, as far as that is known.
  bool changes(BufferIndex buffer) const;
  /// Returns whether the extents of an inner value changed that is in no buffer of its own.
  bool changesInside() const { return m_changesInside; }
  /// Returns `ref` at the new extents: unchanged, or the whole of a buffer whose extents changed. Returns nothing for a
  /// Ref that may have been computed from extents that changed, as those of views are.
  std::optional<Ref> at(const Ref& ref) const;

 private:
  /// Returns null for a buffer that is neither an operand nor scratch for one value.
  const Dims* find(const RegionExtents& extents, BufferIndex buffer) const;

  const RegionExtents &m_before, &m_after;
  const ScratchValues& m_scratch;
  bool m_changesInside;
};

/// One prepared call. It is const and re-entrant. The caller provides all memory; run() allocates nothing.
class Step {
 public:
  virtual ~Step() = default;
  virtual Status run(Memory memory, std::byte* scratch) const = 0;
  virtual std::size_t scratchBytes() const { return 0; }
  /// Returns the same call for other extents. Returns null if the call must be prepared anew.
  virtual std::unique_ptr<const Step> forExtents(const NewExtents& extents) const {
    static_cast<void>(extents);
    return nullptr;
  }
};

/// Collects steps and buffers, places the scratch buffers by liveness, and creates the code.
class ProgramBuilder {
 public:
  ProgramBuilder(std::size_t inputs, std::size_t outputs) : m_inputs(inputs), m_outputs(outputs) {
    m_buffers.resize(inputs + outputs);
  }
  BufferIndex input(std::size_t i) const { return static_cast<BufferIndex>(i); }
  BufferIndex output(std::size_t i) const { return static_cast<BufferIndex>(m_inputs + i); }
  /// Adds a scratch buffer. `of` says which value it contains, if it contains exactly one value; without it, the buffer
  /// is only valid for the present extents.
  BufferIndex addScratch(std::size_t bytes, std::optional<ScratchContents> of = std::nullopt);
  /// Adds a buffer for a weight, which is provided at run time as `packing` says.
  BufferIndex addPacked(Packing packing);
  /// Adds a table that is part of the code and does not depend on the region's weights.
  BufferIndex addTable(Tensor table);
  /// Adds a step. `reads` and `writes` must list all buffers that it accesses, because the lifetime of scratch depends
  /// on them.
  void addStep(std::unique_ptr<Step> step, const std::vector<BufferIndex>& reads,
               const std::vector<BufferIndex>& writes);
  bool isScratch(BufferIndex buffer) const { return m_buffers[buffer].bytes > 0; }
  /// Creates the code; `embedded` is returned by Code::embedded().
  std::unique_ptr<const Code> finish(std::vector<std::size_t> embedded = {});

 private:
  struct Buffer {
    std::size_t bytes = 0;  ///< size of a scratch buffer; 0 for other buffers
    int packed = -1, table = -1;
    int firstStep = -1, lastStep = -1;
    std::optional<ScratchContents> of;
  };

  std::size_t m_inputs, m_outputs;
  std::vector<Buffer> m_buffers;
  std::vector<Packing> m_packings;
  std::vector<Tensor> m_tables;
  std::vector<std::shared_ptr<const Step>> m_steps;
  std::vector<std::vector<BufferIndex>> m_touched;  ///< the buffers that each step uses
};

}  // namespace fusescope::native
