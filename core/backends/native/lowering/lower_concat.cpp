#include <algorithm>

#include "backends/native/kernels/strided_copy.h"
#include "backends/native/lowering/concat.h"
#include "backends/native/lowering/emitter.h"

namespace fusescope::native {
namespace {

constexpr KernelKind kConcatKernel{.name = "concat"};

/// One operand of a Concat: a plain tensor, and the table that translates its codes, if there is one.
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
  /// The copy of one part, which begins `begin` bytes after the beginning of the whole tensor.
  struct Copy {
    StridedCopy copy;
    std::size_t begin;
  };
  /// Returns whether the extents of a part are equal to those of the whole, except along the axis.
  bool fits(const Dims& part, const Dims& whole) const {
    if (part.size() != whole.size()) return false;
    for (std::size_t i = 0; i < part.size(); ++i)
      if (i != m_axis && part[i] != whole[i]) return false;
    return true;
  }

  /// Translates the codes of a part on their way to `target`, or in place if they had to be copied there first.
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
  std::vector<Copy> m_copies;  ///< in the order of m_parts
};

/// Returns a tensor of another format as a plain tensor whose axes are in the order of its memory.
Ref asMemory(const Ref& ref) {
  if (ref.format.isPlain()) return ref;
  Ref seen = ref;
  seen.format = MemoryFormat();
  seen.dims = ref.format.memoryExtents(ref.dims);
  seen.strides = rowMajorStrides(seen.dims);
  return seen;
}

Result<bool> emitPlainConcat(Context& context, const Node& node) {
  if (!node.is("Concat") || node.inputs.empty() || context.typeOf(node.input(0)) != context.typeOf(node.outputs[0]))
    return false;
  TRY(emitConcat(context, node, {}));
  return true;
}

}  // namespace

// Concatenates in a blocked or channels-last format if all operands have this format and their channels fill whole
// blocks.
Status emitConcat(Context& context, const Node& node, const CodeTables& tables) {
  const Dims dims = context.dimsOf(node.outputs[0]);
  std::int64_t axis = node.intAttribute("axis", 0);
  if (axis < 0) axis += static_cast<std::int64_t>(dims.size());
  std::vector<Ref> parts;
  const DataType type = context.storedType(node.outputs[0]);
  const bool isNarrowed =
      std::ranges::all_of(node.inputs, [&](ValueId input) { return context.seenType(input) == type; });
  for (ValueId input : node.inputs) parts.push_back(isNarrowed ? TRY(context.seen(input)) : TRY(context.ref(input)));
  MemoryFormat format = parts[0].format;
  for (const Ref& part : parts) {
    const bool fits = part.format == format && format.padded(part.dims) == part.dims;
    if (!fits) format = MemoryFormat();
  }
  const Ref whole = context.allocate(node.outputs[0], format, isNarrowed ? type : context.typeOf(node.outputs[0]));
  context.define(node.outputs[0], whole);
  const Ref target = asMemory(whole);
  std::size_t at = static_cast<std::size_t>(axis);
  if (!format.isPlain()) at = static_cast<std::size_t>(std::ranges::find(format.order(), at) - format.order().begin());
  std::vector<Part> sources;
  std::vector<BufferIndex> reads;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].count() == 0) continue;
    const auto table = tables.find(node.inputs[i]);
    sources.push_back({asMemory(format.isPlain() ? TRY(context.strided(parts[i])) : parts[i]),
                       table == tables.end() ? std::nullopt : std::optional(table->second)});
    reads.push_back(sources.back().from.buffer);
  }
  context.program().addStep(std::make_unique<ConcatStep>(std::move(sources), target, at, context.threads()), reads,
                            {target.buffer});
  context.chose({.kind = kConcatKernel});
  return Done{};
}

extern const Emitter kConcatEmitter{.name = "concat", .emit = emitPlainConcat};

}  // namespace fusescope::native
