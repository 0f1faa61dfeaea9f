#include <algorithm>
#include <cstring>

#include "backends/native/code_table.h"
#include "backends/native/convert_step.h"
#include "backends/native/lowering.h"
#include "backends/native/parallel.h"
#include "backends/native/strided_copy.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kParallelBytes = 64 * 1024;

/// Gathers whole slices of `data` [outer, extent, slice] by indices: output [outer, indices, slice].
class GatherStep final : public Step {
 public:
  GatherStep(const Node& node, Ref data, Ref indices, Ref to, std::int64_t outer, std::int64_t extent,
             std::size_t sliceBytes, int threads)
      : m_name(node.name),
        m_data(std::move(data)),
        m_indices(std::move(indices)),
        m_to(std::move(to)),
        m_outer(outer),
        m_extent(extent),
        m_sliceBytes(sliceBytes),
        m_threads(threads) {}

  Status run(Memory memory, std::byte*) const override {
    const std::byte* data = bytesAt(m_data, memory);
    const std::byte* indices = bytesAt(m_indices, memory);
    std::byte* to = bytesAt(m_to, memory);
    const std::int64_t count = m_indices.count();
    const bool wide = m_indices.dtype == DataType::I64;
    const auto index = [&](std::int64_t i) {
      const std::int64_t raw =
          wide ? reinterpret_cast<const std::int64_t*>(indices)[i] : reinterpret_cast<const std::int32_t*>(indices)[i];
      return raw < 0 ? raw + m_extent : raw;
    };
    for (std::int64_t i = 0; i < count; ++i) {
      if (index(i) >= 0 && index(i) < m_extent) continue;
      return Diagnostic{.message = "an index is outside of the axis, whose extent is " + std::to_string(m_extent),
                        .where = {.node = m_name}};
    }
    const std::int64_t total = m_outer * count;
    const bool isLarge = total * static_cast<std::int64_t>(m_sliceBytes) > kParallelBytes;
    forEach(total, isLarge ? m_threads : 1, [&](std::int64_t i) {
      const std::int64_t slice = i / count * m_extent + index(i % count);
      std::memcpy(to + static_cast<std::size_t>(i) * m_sliceBytes,
                  data + static_cast<std::size_t>(slice) * m_sliceBytes, m_sliceBytes);
    });
    return Done{};
  }

 private:
  std::string m_name;
  Ref m_data, m_indices, m_to;
  std::int64_t m_outer, m_extent;
  std::size_t m_sliceBytes;
  int m_threads;
};

/// What a Concat puts next to others: a plain tensor, of codes that a table translates if there is one.
struct Part {
  Ref from;
  std::optional<CodeTable> table;
};

/// Copies plain tensors next to each other.
class ConcatStep final : public Step {
 public:
  ConcatStep(std::vector<Part> parts, Ref whole, std::size_t axis, int threads)
      : m_parts(std::move(parts)), m_whole(std::move(whole)), m_axis(axis), m_threads(threads) {
    std::int64_t begin = 0;
    m_copies.reserve(m_parts.size());
    for (const auto& [from, table] : m_parts) {
      m_copies.push_back({StridedCopy(from.dims, from.strides, m_whole.strides, byteSize(from.dtype, 1), threads),
                          byteSize(from.dtype, begin * m_whole.strides[axis])});
      begin += from.dims[axis];
    }
  }

  std::unique_ptr<const Step> forExtents(const NewExtents& extents) const override {
    auto whole = extents.at(m_whole);
    if (!whole) return nullptr;
    std::int64_t filled = 0;
    std::vector<Part> parts;
    parts.reserve(m_parts.size());
    for (const auto& [from, table] : m_parts) {
      auto part = extents.at(from);
      if (!part || !fits(part->dims, whole->dims)) return nullptr;
      filled += part->dims[m_axis];
      parts.push_back({std::move(*part), table});
    }
    if (filled != whole->dims[m_axis]) return nullptr;
    return std::make_unique<ConcatStep>(std::move(parts), std::move(*whole), m_axis, m_threads);
  }

  Status run(Memory memory, std::byte*) const override {
    for (std::size_t i = 0; i < m_parts.size(); ++i) {
      const Ref& from = m_parts[i].from;
      std::byte* target = bytesAt(m_whole, memory) + m_copies[i].begin;
      const bool translates = m_parts[i].table.has_value();
      if (!translates || !from.contiguous()) m_copies[i].copy.run(bytesAt(from, memory), target);
      if (translates) translateRows(m_parts[i], target, memory);
    }
    return Done{};
  }

 private:
  /// Of one part, which begins so many bytes behind where the whole does.
  struct Copy {
    StridedCopy copy;
    std::size_t begin;
  };
  /// Whether a part has the whole's extents but for the axis.
  bool fits(const Dims& part, const Dims& whole) const {
    if (part.size() != whole.size()) return false;
    for (std::size_t i = 0; i < part.size(); ++i)
      if (i != m_axis && part[i] != whole[i]) return false;
    return true;
  }

  /// From where the part lies, or in place where it had to be copied.
  void translateRows(const Part& part, std::byte* target, Memory memory) const {
    auto* to = reinterpret_cast<std::uint8_t*>(target);
    CodeRows rows{.from = to, .to = to};
    rows.rows = productOf(part.from.dims, 0, m_axis);
    rows.count = productOf(part.from.dims, m_axis);
    rows.fromStride = rows.toStride = productOf(m_whole.dims, m_axis);
    if (part.from.contiguous()) {
      rows.from = elementsAt<std::uint8_t>(part.from, memory);
      rows.fromStride = rows.count;
    }
    translate(*part.table, rows, m_threads);
  }

  std::vector<Part> m_parts;
  Ref m_whole;
  std::size_t m_axis;
  int m_threads;
  std::vector<Copy> m_copies;  ///< as m_parts
};

/// A tensor in another format, seen as a plain one in the order of its memory.
Ref asMemory(const Ref& ref) {
  if (ref.format.isPlain()) return ref;
  Ref seen = ref;
  seen.format = MemoryFormat();
  seen.dims = ref.format.memoryExtents(ref.dims);
  seen.strides = rowMajorStrides(seen.dims);
  return seen;
}

}  // namespace

// In a blocked or channels-last format when all operands come in it and the channels fill whole blocks.
Status Lowering::lowerConcat(const Node& node) {
  const Dims dims = dimsOf(node.outputs[0]);
  std::int64_t axis = node.intAttribute("axis", 0);
  if (axis < 0) axis += static_cast<std::int64_t>(dims.size());
  std::vector<Ref> parts;
  const DataType type = storedType(node.outputs[0]);
  const bool isNarrowed = std::ranges::all_of(node.inputs, [&](ValueId input) { return seenType(input) == type; });
  for (ValueId input : node.inputs) parts.push_back(isNarrowed ? TRY(seen(input)) : TRY(ref(input)));
  MemoryFormat format = parts[0].format;
  for (const Ref& part : parts) {
    const bool fits = part.format == format && format.padded(part.dims) == part.dims;
    if (!fits) format = MemoryFormat();
  }
  const Ref whole = allocate(node.outputs[0], format, isNarrowed ? type : typeOf(node.outputs[0]));
  define(node.outputs[0], whole);
  const Ref target = asMemory(whole);
  std::size_t at = static_cast<std::size_t>(axis);
  if (!format.isPlain()) at = static_cast<std::size_t>(std::ranges::find(format.order(), at) - format.order().begin());
  std::vector<Part> sources;
  std::vector<BufferIndex> reads;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].count() == 0) continue;
    const auto table = m_heldTables.find(node.inputs[i]);
    sources.push_back({asMemory(format.isPlain() ? TRY(strided(parts[i])) : parts[i]),
                       table == m_heldTables.end() ? std::nullopt : std::optional(table->second)});
    reads.push_back(sources.back().from.buffer);
  }
  m_program.addStep(std::make_unique<ConcatStep>(std::move(sources), target, at, m_threads), reads, {target.buffer});
  m_implementations.push_back("concat");
  return Done{};
}

/// The DequantizeLinear of a constant, by one scale, that nothing but `gather` reads: of it only what is gathered is
/// dequantised.
const Node* Lowering::dequantizedTable(const Node& gather) const {
  const auto from = producer(gather.input(0));
  if (!from || !node(*from).is("DequantizeLinear") || onlyConsumer(gather.input(0)) != gather.id) return nullptr;
  const Node& table = node(*from);
  const bool oneScale = isTapeQuantization(table) && constantNumber(table.input(1)).has_value();
  return oneScale && isConstant(table.input(0)) ? &table : nullptr;
}

Status Lowering::lowerGather(const Node& node) {
  const Node* table = dequantizedTable(node);
  const Dims dims = dimsOf(node.input(0));
  std::int64_t axis = node.intAttribute("axis", 0);
  if (axis < 0) axis += static_cast<std::int64_t>(dims.size());
  const std::size_t at = static_cast<std::size_t>(axis);
  const ValueId source = table != nullptr ? table->input(0) : node.input(0);
  const DataType stored = storedType(node.outputs[0]);
  const bool isNarrowed = table == nullptr && seenType(source) == stored;
  const Ref data = TRY(plain(TRY(isNarrowed ? seen(source) : ref(source))));
  const Ref indices = TRY(plain(TRY(ref(node.input(1)))));
  const Ref result = allocate(node.outputs[0], {}, isNarrowed ? stored : typeOf(node.outputs[0]));
  define(node.outputs[0], result);
  const Ref target = table != nullptr ? allocateScratch(data.dtype, result.dims) : result;
  m_implementations.push_back("gather");
  m_program.addStep(std::make_unique<GatherStep>(node, data, indices, target, productOf(dims, 0, at), dims[at],
                                                 byteSize(data.dtype, productOf(dims, at + 1)), m_threads),
                    {data.buffer, indices.buffer}, {target.buffer});
  if (table != nullptr) dequantize(*table, target, result);
  return Done{};
}

// Constant padding: the borders are filled, the input is copied between them.
Status Lowering::lowerPad(const Node& node) {
  const DataType stored = storedType(node.outputs[0]);
  const bool isNarrowed = seenType(node.input(0)) == stored;
  Ref source = TRY(strided(TRY(isNarrowed ? seen(node.input(0)) : ref(node.input(0)))));
  const std::vector<std::int64_t> pads = int64Values(*constant(node.input(1)));
  const Tensor* element = node.input(2).valid() ? constant(node.input(2)) : nullptr;
  std::vector<std::int64_t> axes;
  if (node.input(3).valid()) axes = int64Values(*constant(node.input(3)));
  const std::size_t count = pads.size() / 2;
  const Ref target = allocate(node.outputs[0], {}, isNarrowed ? stored : typeOf(node.outputs[0]));
  define(node.outputs[0], target);
  Dims before(source.dims.size(), 0), after = before;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t axis = positiveAxis(axes.empty() ? static_cast<std::int64_t>(i) : axes[i], source.dims.size());
    before[axis] = std::max<std::int64_t>(pads[i], 0);
    after[axis] = std::max<std::int64_t>(pads[count + i], 0);
    if (pads[i] < 0) source.offset -= pads[i] * source.strides[axis];
    source.dims[axis] += std::min<std::int64_t>(pads[i], 0) + std::min<std::int64_t>(pads[count + i], 0);
  }
  // What stands before and behind the source along an axis, within the source along the axes before that one.
  Ref filling{.dtype = target.dtype};
  filling.buffer =
      m_program.addTable(element != nullptr ? element->converted(target.dtype) : Tensor::zeros(target.dtype, {}));
  Ref to = target;
  for (std::size_t axis = 0; axis < to.dims.size(); ++axis) {
    for (const auto& [begin, extent] :
         {std::pair(std::int64_t{0}, before[axis]), std::pair(before[axis] + source.dims[axis], after[axis])}) {
      Ref border = to;
      border.offset += begin * to.strides[axis];
      border.dims[axis] = extent;
      if (border.count() > 0) copyStrided(broadcast(filling, border.dims), border);
    }
    to.offset += before[axis] * to.strides[axis];
    to.dims[axis] = source.dims[axis];
  }
  if (source.count() > 0) copyStrided(source, to);
  m_implementations.push_back("pad");
  return Done{};
}

Result<bool> Lowering::lowerMovement(const Node& node) {
  if (node.is("Cast")) {
    const DataType to = typeOf(node.outputs[0]);
    const DataType from = typeOf(node.input(0));
    if (from == DataType::String || to == DataType::String || !canConvert(from, to)) return false;
    const Ref target = allocate(node.outputs[0]);
    const Ref source = TRY(ref(node.input(0)));
    define(node.outputs[0], target);
    TRY(convertType(source, target));
    return true;
  }
  if (node.inputs.empty() || typeOf(node.input(0)) != typeOf(node.outputs[0])) return false;
  if (node.is("Concat")) {
    TRY(lowerConcat(node));
    return true;
  }
  if (node.is("Gather")) {
    const DataType index = typeOf(node.input(1));
    if ((index != DataType::I64 && index != DataType::I32) || dimsOf(node.input(0)).empty()) return false;
    TRY(lowerGather(node));
    return true;
  }
  if (node.is("Pad") && node.textAttribute("mode", "constant") == "constant") {
    for (std::size_t i = 1; i < 4; ++i) {
      if (node.input(i).valid() && !isConstant(node.input(i))) return false;
    }
    const Tensor* element = node.input(2).valid() ? constant(node.input(2)) : nullptr;
    if (!node.input(1).valid() || (element != nullptr && element->type() != typeOf(node.input(0)))) return false;
    TRY(lowerPad(node));
    return true;
  }
  return false;
}

}  // namespace fusescope::native
