#include <algorithm>

#include "backends/native/convert_step.h"
#include "backends/native/format_step.h"
#include "backends/native/lowering.h"
#include "backends/native/narrow_floats.h"
#include "backends/native/onednn.h"
#include "backends/native/strided_copy.h"

// Where tensors are put, and how they come to another place, type or format.
namespace fusescope::native {
namespace {

/// A strided copy as a step.
class CopyStep final : public Step {
 public:
  CopyStep(const Ref& from, const Ref& to, int threads)
      : m_copy(from.dims, from.strides, to.strides, byteSize(from.dtype, 1), threads), m_from(from), m_to(to) {}
  Status run(Memory memory, std::byte*) const override {
    m_copy.run(bytesAt(m_from, memory), bytesAt(m_to, memory));
    return Done{};
  }

 private:
  StridedCopy m_copy;
  Ref m_from, m_to;
};

}  // namespace

Ref Lowering::allocateScratch(DataType type, const Dims& dims, const MemoryFormat& format) {
  Ref ref{.dtype = type, .dims = dims, .format = format};
  if (format.isPlain()) ref.strides = rowMajorStrides(dims);
  ref.buffer = m_program.addScratch(ref.desc().bytes());
  return ref;
}

// A value whose only use leads through pointwise nodes and reshapes of equal size to an output can be written there:
// the last node then works in place.
Ref Lowering::allocate(ValueId value, const MemoryFormat& format, DataType type) {
  const Dims dims = dimsOf(value);
  Ref ref{.dtype = type, .dims = dims, .format = format};
  if (format.isPlain()) ref.strides = rowMajorStrides(dims);
  ValueId at = value;
  while (true) {
    if (const auto it = m_outputIndex.find(at); it != m_outputIndex.end()) {
      const TensorDesc& wanted = desc(at);
      const MemoryFormat wantedFormat = m_options.outputFormats[it->second];
      const BufferIndex buffer = m_program.output(it->second);
      const bool fits = wanted.dtype == type && wantedFormat == format && (format.isPlain() || dimsOf(at) == dims);
      if (!fits || (at != value && m_claimed.contains(buffer))) break;
      if (at != value) m_claimed.insert(buffer);
      ref.buffer = buffer;
      ref.isWhole = at == value;
      if (format.isPlain()) m_origins.insert_or_assign(value, ViewOrigin{.operand = ref, .whole = extentsOf(value)});
      if (isNarrow(type)) m_wholes[buffer] = ref;
      return ref;
    }
    const std::optional<NodeId> next = onlyConsumer(at);
    if (!next || node(*next).outputs.size() != 1 || typeOf(node(*next).outputs[0]) != typeOf(value)) break;
    const Node& user = node(*next);
    const bool passes = user.is("QuantizeLinear") && m_heldCodes.contains(at);
    const Dims after = dimsOf(user.outputs[0]);
    const bool isInPlace = type == typeOf(value) && isPointwise(user) && after == dimsOf(at);
    if (!(passes || isReshape(user) ? elementCount(after) == elementCount(dims) : isInPlace)) break;
    at = user.outputs[0];
  }
  if (!format.isPlain()) {
    ref.buffer = m_program.addScratch(ref.desc().bytes());
    if (isNarrow(type)) m_wholes[ref.buffer] = ref;
    return ref;
  }
  ref.buffer = m_program.addScratch(ref.desc().bytes(), ScratchOf{type, extentsOf(value)});
  ref.isWhole = true;
  if (isNarrow(type)) m_wholes[ref.buffer] = ref;
  m_origins.insert_or_assign(value, ViewOrigin{.operand = ref, .whole = extentsOf(value)});
  return ref;
}

DataType Lowering::storedType(ValueId value) const {
  const DataType own = typeOf(value);
  if (own != DataType::F32) return own;
  if (const DataType type = m_rounding.rounds(value); type != DataType::Undefined) return type;
  for (ValueId at = value;;) {
    if (isFusedOutput(at)) {
      const DataType type = desc(at).dtype;
      const bool isAll = consumers(at).empty() || m_rounding.made(at) == type;
      return isNarrow(type) && isAll ? type : own;
    }
    const std::optional<NodeId> next = onlyConsumer(at);
    if (!next || !isReshape(node(*next)) || node(*next).outputs.size() != 1) return own;
    if (elementCount(dimsOf(node(*next).outputs[0])) != elementCount(dimsOf(at))) return own;
    at = node(*next).outputs[0];
  }
}

void Lowering::copyStrided(const Ref& from, const Ref& to) {
  m_program.addStep(std::make_unique<CopyStep>(from, to, m_threads), {from.buffer}, {to.buffer});
}

Status Lowering::convertType(const Ref& from, const Ref& to) {
  const Ref source = from.format.isPlain() || from.format != to.format ? TRY(plain(from)) : from;
  m_program.addStep(makeConvertStep(source, to, m_threads), {source.buffer}, {to.buffer});
  return Done{};
}

Status Lowering::reorder(const Ref& from, const Ref& to) {
  if (canMoveInto(from.dtype, from.format, to.format)) {
    m_program.addStep(makeFormatStep(from, to, m_threads), {from.buffer}, {to.buffer});
    return Done{};
  }
  const auto source = dnnlDesc(from.desc());
  const auto target = dnnlDesc(to.desc());
  if (!source || !target)
    return Diagnostic{.message = "a tensor of this type has no such format", .where = {.node = m_fused.name}};
  m_program.addStep(TRY(makeReorder(*source, from.buffer, *target, to.buffer, byteSize(from.dtype, from.offset))),
                    {from.buffer}, {to.buffer});
  return Done{};
}

Result<Ref> Lowering::plain(const Ref& ref) {
  if (ref.contiguous()) return ref;
  if (!ref.format.isPlain()) return inFormat(ref, MemoryFormat());
  const Ref copy = allocateScratch(ref.dtype, ref.dims);
  copyStrided(ref, copy);
  return copy;
}

// Channels that are last are one more order of the axes; blocks of channels no strides can say.
Result<Ref> Lowering::strided(const Ref& ref) {
  if (ref.format.isPlain()) return ref;
  if (!ref.format.isChannelsLast()) return inFormat(ref, MemoryFormat());
  Ref seen = ref;
  seen.format = MemoryFormat();
  seen.strides = rowMajorStrides(ref.format.memoryExtents(ref.dims));
  std::rotate(seen.strides.begin() + 1, seen.strides.end() - 1, seen.strides.end());
  return seen;
}

Result<Ref> Lowering::inFormat(const Ref& ref, const MemoryFormat& format) {
  if (ref.format == format && (!format.isPlain() || ref.contiguous())) return ref;
  if (ref.format.isPlain() && format.isPlain()) return plain(ref);
  if (format.isPlain() && formatIsMoot(ref)) {
    Ref same = ref;
    same.format = MemoryFormat();
    same.strides = rowMajorStrides(ref.dims);
    return same;
  }
  const Ref source = ref.format.isPlain() ? TRY(plain(ref)) : ref;
  const Ref target = allocateScratch(ref.dtype, ref.dims, format);
  TRY(reorder(source, target));
  return target;
}

// What is most of a buffer is found in all of it, widened once, however many views there are.
Result<Ref> Lowering::widened(const Ref& ref) {
  const auto whole = m_wholes.find(ref.buffer);
  const bool isMost = whole != m_wholes.end() && 2 * ref.count() >= whole->second.count();
  if (!isMost) {
    const Ref from = ref.format.isPlain() ? TRY(plain(ref)) : ref;
    const Ref to = allocateScratch(DataType::F32, from.dims, from.format);
    TRY(convertType(from, to));
    return to;
  }
  Ref& wide = m_wideWholes[ref.buffer];
  if (wide.buffer == kNoBuffer) {
    wide = allocateScratch(DataType::F32, whole->second.dims, whole->second.format);
    TRY(convertType(whole->second, wide));
  }
  Ref seen = ref;
  seen.buffer = wide.buffer;
  seen.dtype = DataType::F32;
  return seen;
}

Result<Ref> Lowering::rounded(const Ref& ref, DataType type) {
  const Ref from = ref.format.isPlain() ? TRY(plain(ref)) : ref;
  const Ref to = allocateScratch(DataType::F32, from.dims, from.format);
  m_program.addStep(makeRoundStep(from, to, type, m_threads), {from.buffer}, {to.buffer});
  return to;
}

}  // namespace fusescope::native
