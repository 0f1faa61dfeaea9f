#include <algorithm>

#include "backends/native/kernels/narrow_floats.h"
#include "backends/native/kernels/strided_copy.h"
#include "backends/native/lowering/region_places.h"
#include "backends/native/lowering/tape_nodes.h"
#include "backends/native/onednn.h"
#include "backends/native/steps/convert_step.h"
#include "backends/native/steps/format_step.h"

// Places tensors in memory and converts them to another place, type or format.
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

RegionPlaces::RegionPlaces(const KernelRequest& request, LoweringOptions options)
    : RegionFacts(request, std::move(options)), m_program(fused().inputs.size(), fused().outputs.size()) {}

Ref RegionPlaces::allocateScratch(DataType type, const Dims& dims, const MemoryFormat& format) {
  Ref ref{.dtype = type, .dims = dims, .format = format};
  if (format.isPlain()) ref.strides = rowMajorStrides(dims);
  ref.buffer = m_program.addScratch(ref.desc().bytes());
  return ref;
}

// If the only use of a value leads through pointwise nodes and reshapes of equal size to an output, the value can be
// written to the memory of this output. The last node then works in place.
Ref RegionPlaces::allocate(ValueId value, const MemoryFormat& format, DataType type) {
  Ref ref{.dtype = type, .dims = dimsOf(value), .format = format};
  if (format.isPlain()) ref.strides = rowMajorStrides(ref.dims);
  const std::optional<ValueId> output = outputFor(value, ref);
  const ScratchContents scratch{type, extentsOf(value)};
  if (output) {
    ref.buffer = m_program.output(*outputIndex(*output));
    ref.isWhole = *output == value;
    if (*output != value) m_claimed.insert(ref.buffer);
  } else if (format.isPlain()) {
    ref.buffer = m_program.addScratch(ref.desc().bytes(), scratch);
    ref.isWhole = true;
  } else {
    ref.buffer = m_program.addScratch(ref.desc().bytes());
  }
  if (isNarrow(type)) m_wholes[ref.buffer] = ref;
  if (format.isPlain()) m_origins.insert_or_assign(value, ViewOrigin{.operand = ref, .whole = extentsOf(value)});
  return ref;
}

std::optional<ValueId> RegionPlaces::outputFor(ValueId value, const Ref& ref) const {
  ValueId at = value;
  while (true) {
    if (const auto output = outputIndex(at)) {
      const bool fits = desc(at).dtype == ref.dtype && options().outputFormats[*output] == ref.format &&
                        (ref.format.isPlain() || dimsOf(at) == ref.dims);
      const bool isFree = at == value || !m_claimed.contains(m_program.output(*output));
      return fits && isFree ? std::optional(at) : std::nullopt;
    }
    const std::optional<NodeId> next = onlyReader(at);
    if (!next || node(*next).outputs.size() != 1) return std::nullopt;
    const Node& user = node(*next);
    const ValueId result = user.outputs[0];
    if (typeOf(result) != typeOf(value)) return std::nullopt;
    const bool endsCodes = isKeptAsCodes(at) && !isKeptAsCodes(result);
    const bool isSame = (endsCodes || isReshape(user)) && elementCount(dimsOf(result)) == elementCount(ref.dims);
    const bool isInPlace = !endsCodes && !isReshape(user) && ref.dtype == typeOf(value) && isPointwise(*this, user) &&
                           dimsOf(result) == dimsOf(at);
    if (!isSame && !isInPlace) return std::nullopt;
    at = result;
  }
}

DataType RegionPlaces::storedType(ValueId value) const {
  const DataType own = typeOf(value);
  if (own != DataType::F32) return own;
  if (const DataType type = rounding().rounds(value); type != DataType::Undefined) return type;
  for (ValueId at = value;;) {
    if (isFusedOutput(at)) {
      const DataType type = desc(at).dtype;
      const bool isAll = readers(at).empty() || rounding().made(at) == type;
      return isNarrow(type) && isAll ? type : own;
    }
    const std::optional<NodeId> next = onlyReader(at);
    if (!next || !isReshape(node(*next)) || node(*next).outputs.size() != 1) return own;
    if (elementCount(dimsOf(node(*next).outputs[0])) != elementCount(dimsOf(at))) return own;
    at = node(*next).outputs[0];
  }
}

Result<View> RegionPlaces::allocateView(ValueId value) {
  const std::optional<NodeId> next = onlyReader(value);
  const auto order = next ? orderBeforeLast(node(*next)) : std::vector<std::int64_t>();
  if (order.empty()) {
    const Ref target = allocate(value, {}, storedType(value));
    define(value, target);
    return View(target);
  }
  const ValueId moved = node(*next).outputs[0];
  define(moved, allocate(moved, {}, storedType(moved)));
  std::vector<std::int64_t> back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  TRY(defineLook(value, moved, [back](View& view, const RegionExtents&) { return view.transpose(back); }));
  return m_views.at(value);
}

void RegionPlaces::copyStrided(const Ref& from, const Ref& to) {
  m_program.addStep(std::make_unique<CopyStep>(from, to, threads()), {from.buffer}, {to.buffer});
}

Status RegionPlaces::convertType(const Ref& from, const Ref& to) {
  const Ref source = from.format.isPlain() || from.format != to.format ? TRY(plain(from)) : from;
  m_program.addStep(makeConvertStep(source, to, threads()), {source.buffer}, {to.buffer});
  return Done{};
}

Status RegionPlaces::reorder(const Ref& from, const Ref& to) {
  if (canMoveInto(from.dtype, from.format, to.format)) {
    m_program.addStep(makeFormatStep(from, to, threads()), {from.buffer}, {to.buffer});
    return Done{};
  }
  const auto source = dnnlDesc(from.desc());
  const auto target = dnnlDesc(to.desc());
  if (!source || !target)
    return Diagnostic{.message = "a tensor of this type cannot have this memory format",
                      .where = {.node = fused().name}};
  m_program.addStep(TRY(makeReorder(*source, from.buffer, *target, to.buffer, byteSize(from.dtype, from.offset))),
                    {from.buffer}, {to.buffer});
  return Done{};
}

Result<Ref> RegionPlaces::plain(const Ref& ref) {
  if (ref.contiguous()) return ref;
  if (!ref.format.isPlain()) return inFormat(ref, MemoryFormat());
  const Ref copy = allocateScratch(ref.dtype, ref.dims);
  copyStrided(ref, copy);
  return copy;
}

// A channels-last tensor is read through strides, because it is only another order of the axes. Strides cannot describe
// blocks of channels.
Result<Ref> RegionPlaces::strided(const Ref& ref) {
  if (ref.format.isPlain()) return ref;
  if (!ref.format.isChannelsLast()) return inFormat(ref, MemoryFormat());
  Ref seen = ref;
  seen.format = MemoryFormat();
  seen.strides = rowMajorStrides(ref.format.memoryExtents(ref.dims));
  std::rotate(seen.strides.begin() + 1, seen.strides.end() - 1, seen.strides.end());
  return seen;
}

Result<Ref> RegionPlaces::inFormat(const Ref& ref, const MemoryFormat& format) {
  if (ref.format == format && (!format.isPlain() || ref.contiguous())) return ref;
  if (ref.format.isPlain() && format.isPlain()) return plain(ref);
  if (format.isPlain() && hasPlainLayout(ref)) {
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

// If `ref` is more than half of a buffer, the whole buffer is widened once for all views of it.
Result<Ref> RegionPlaces::widened(const Ref& ref) {
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

Result<Ref> RegionPlaces::rounded(const Ref& ref, DataType type) {
  const Ref from = ref.format.isPlain() ? TRY(plain(ref)) : ref;
  const Ref to = allocateScratch(DataType::F32, from.dims, from.format);
  m_program.addStep(makeRoundStep(from, to, type, threads()), {from.buffer}, {to.buffer});
  return to;
}

Status RegionPlaces::bindInputs() {
  for (std::size_t i = 0; i < fused().inputs.size(); ++i) {
    const ValueId value = fused().inputs[i];
    Ref ref{.buffer = m_program.input(i),
            .dtype = desc(value).dtype,
            .dims = desc(value).dims,
            .format = options().inputFormats[i]};
    if (ref.format.isPlain()) ref.strides = rowMajorStrides(ref.dims);
    if (isNarrow(ref.dtype)) m_wholes[ref.buffer] = ref;
    if (!isNarrow(ref.dtype) && ref.dtype != typeOf(value)) {
      const Ref wide = allocateScratch(typeOf(value), ref.dims);
      TRY(convertType(ref, wide));
      ref = wide;
    } else if (ref.format.isPlain()) {
      ref.isWhole = true;
      m_origins.emplace(value, ViewOrigin{.operand = ref, .whole = extentsOf(value)});
    }
    define(value, ref);
  }
  return Done{};
}

Status RegionPlaces::finishOutput(std::size_t index) {
  const ValueId value = fused().outputs[index].value;
  const MemoryFormat format = options().outputFormats[index];
  Ref target{.buffer = m_program.output(index), .dtype = desc(value).dtype, .dims = desc(value).dims, .format = format};
  if (format.isPlain()) target.strides = rowMajorStrides(target.dims);
  Ref source = TRY(asStored(value));
  if (source.buffer == target.buffer && source.offset == 0 && source.format == format && source.dtype == target.dtype &&
      (!format.isPlain() || source.contiguous())) {
    return Done{};
  }
  if (source.dtype != target.dtype) {
    if (format.isPlain() || format == source.format) return convertType(source, target);
    const Ref narrow = allocateScratch(target.dtype, target.dims);
    TRY(convertType(source, narrow));
    source = narrow;
  }
  if (format.isPlain() && !source.format.isPlain() && hasPlainLayout(source))
    source = TRY(inFormat(source, MemoryFormat()));
  if (source.format.isPlain() && format.isPlain()) {
    copyStrided(source, target);
    return Done{};
  }
  if (source.format.isPlain()) source = TRY(plain(source));
  return reorder(source, target);
}

Status RegionPlaces::finishOutputs() {
  for (std::size_t i = 0; i < fused().outputs.size(); ++i) TRY(finishOutput(i));
  return Done{};
}

}  // namespace fusescope::native
