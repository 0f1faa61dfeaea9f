#include "interchange/split_products.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "frontends/onnx/file_tensors.h"
#include "frontends/onnx/node_order.h"
#include "interchange/typed_network/names_of_file.h"
#include "ops/op_schema.h"

namespace fusescope {
namespace {

using onnxlib::FileGraph;
using onnxlib::FileNode;

std::int64_t intOf(const FileNode& node, std::string_view key, std::int64_t otherwise) {
  const auto* attribute = node.attribute(key);
  const auto* value = attribute == nullptr ? nullptr : std::get_if<std::int64_t>(&attribute->value);
  return value == nullptr ? otherwise : *value;
}

bool is(const FileNode& node, std::string_view op) {
  return node.op == op && node.domain.empty();
}

/// A product with its weights, what stands between it and the Split, and the Split, by their places.
struct Match {
  std::size_t product = 0, dequantize = 0, split = 0;
  std::vector<std::size_t> between;  ///< Reshape and Add of a constant
  std::int64_t columns = 0;
  std::int64_t outputAxis = 1;  ///< of the weights
  std::vector<std::int64_t> parts;
};

class Writer {
 public:
  Writer(const onnxlib::FileModel& file, const SplitQuestions& questions)
      : m_graph(file.graph), m_questions(questions) {
    collectNames(m_graph, m_names);
    for (std::size_t i = 0; i < m_graph.nodes.size(); ++i)
      for (const std::string& output : m_graph.nodes[i].outputs) m_makers.emplace(output, i);
    for (const auto& tensor : m_graph.initializers) m_constants.emplace(tensor.name, &tensor);
    forEachRead(m_graph, [&](const std::string& name) { ++m_reads[name]; });
  }

  Result<SplitProducts> run() {
    for (std::size_t i = 0; i < m_graph.nodes.size(); ++i) {
      const auto match = is(m_graph.nodes[i], "Split") ? matchAt(i) : std::nullopt;
      if (match && m_questions.mayGo(namesOf(*match))) TRY(write(*match));
    }
    return std::move(m_result);
  }

 private:
  const onnxlib::FileTensor* constant(const std::string& name) const {
    const auto found = m_constants.find(name);
    return found == m_constants.end() || !found->second->hasData ? nullptr : found->second;
  }

  std::vector<std::string> namesOf(const Match& match) const {
    std::vector<std::string> names;
    for (const std::size_t place : match.between) names.push_back(m_graph.nodes[place].displayName());
    for (const std::size_t place : {match.product, match.dequantize, match.split})
      names.push_back(m_graph.nodes[place].displayName());
    return names;
  }

  /// What makes `value`, which is read once.
  std::optional<std::size_t> onlyMaker(const std::string& value) const {
    const auto found = m_makers.find(value);
    const auto reads = m_reads.find(value);
    return found == m_makers.end() || reads == m_reads.end() || reads->second != 1 ? std::nullopt
                                                                                   : std::optional(found->second);
  }

  std::optional<Match> matchAt(std::size_t split) const {
    Match match{.split = split};
    for (auto place = onlyMaker(m_graph.nodes[split].inputs.at(0)); place;) {
      const FileNode& node = m_graph.nodes[*place];
      if (is(node, "MatMul") || is(node, "Gemm")) {
        match.product = *place;
        return takeWeights(match) && takeParts(match) && areAlongColumns(match) ? std::optional(match) : std::nullopt;
      }
      match.between.insert(match.between.begin(), *place);
      const bool passes = is(node, "Reshape") || (is(node, "Add") && constantOperand(node));
      place = passes ? onlyMaker(node.inputs[is(node, "Add") ? 1 - *constantOperand(node) : 0]) : std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<std::size_t> constantOperand(const FileNode& sum) const {
    for (std::size_t i = 0; i < 2; ++i)
      if (constant(sum.inputs.at(i)) != nullptr) return i;
    return std::nullopt;
  }

  bool takeWeights(Match& match) const {
    const FileNode& product = m_graph.nodes[match.product];
    const bool plain = !is(product, "Gemm") || intOf(product, "transA", 0) == 0;
    const auto place = onlyMaker(product.inputs.at(1));
    if (!plain || !place || !is(m_graph.nodes[*place], "DequantizeLinear")) return false;
    const FileNode& dequantize = m_graph.nodes[*place];
    match.dequantize = *place;
    match.outputAxis = intOf(product, "transB", 0) != 0 ? 0 : 1;
    const auto *codes = constant(dequantize.inputs[0]), *scale = constant(dequantize.inputs[1]);
    if (codes == nullptr || scale == nullptr || codes->dims.size() != 2) return false;
    match.columns = codes->dims[static_cast<std::size_t>(match.outputAxis)];
    const std::int64_t axis = intOf(dequantize, "axis", 1), plainAxis = axis < 0 ? axis + 2 : axis;
    return codes->dtype == DataType::I8 && isPerColumn(*scale, match) && plainAxis == match.outputAxis &&
           intOf(dequantize, "block_size", 0) == 0;
  }

  static bool isPerColumn(const onnxlib::FileTensor& tensor, const Match& match) {
    return tensor.dims.size() == 1 && tensor.dims[0] == match.columns && match.columns > 1;
  }

  /// How many columns each result of the Split has.
  bool takeParts(Match& match) const {
    const FileNode& split = m_graph.nodes[match.split];
    const auto count = std::ssize(split.outputs);
    if (split.inputs.size() > 1 && !split.inputs[1].empty()) {
      const auto* sizes = constant(split.inputs[1]);
      if (sizes == nullptr) return false;
      const Tensor given = toTensor(*sizes);
      for (std::int64_t i = 0; i < given.count(); ++i) match.parts.push_back(given.asInt64(i));
    } else if (const auto* sizes = split.attribute("split")) {
      const auto* given = std::get_if<std::vector<std::int64_t>>(&sizes->value);
      if (given != nullptr) match.parts = *given;
    } else if (match.columns % count == 0) {
      match.parts.assign(static_cast<std::size_t>(count), match.columns / count);
    }
    return count > 1 && std::ssize(match.parts) == count && std::ranges::min(match.parts) > 0 &&
           std::accumulate(match.parts.begin(), match.parts.end(), std::int64_t{0}) == match.columns;
  }

  /// Whether the last axis of what the Split cuts is that of the columns, all the way from the product.
  bool areAlongColumns(const Match& match) const {
    const FileNode &product = m_graph.nodes[match.product], &split = m_graph.nodes[match.split];
    auto rank = static_cast<std::int64_t>(m_questions.rankOf(product.outputs[0]));  // 0: not known
    if (is(product, "Gemm")) rank = 2;
    if (is(product, "Gemm") && product.inputs.size() > 2 && !product.inputs[2].empty()) {
      const auto* bias = constant(product.inputs[2]);
      if (bias == nullptr || !isPerColumn(*bias, match)) return false;
    }
    for (const std::size_t place : match.between) {
      const FileNode& node = m_graph.nodes[place];
      const auto* held = constant(node.inputs[is(node, "Add") ? *constantOperand(node) : 1]);
      if (held == nullptr || (is(node, "Add") && !isPerColumn(*held, match))) return false;
      if (is(node, "Add")) continue;
      const Tensor extents = toTensor(*held);
      rank = extents.count();
      if (rank == 0 || extents.asInt64(rank - 1) != match.columns) return false;
    }
    const std::int64_t axis = intOf(split, "axis", 0);
    return axis == -1 || (rank > 0 && axis == rank - 1);
  }

  Status write(const Match& match) {
    std::int64_t first = 0;
    for (std::size_t i = 0; i < match.parts.size(); ++i) {
      TRY(writePart(match, i, first));
      first += match.parts[i];
    }
    std::vector<std::size_t> gone = match.between;
    gone.insert(gone.end(), {match.product, match.dequantize, match.split});
    for (const std::size_t place : gone) m_result.edits.goneNodes.push_back({{}, place});
    m_result.products.push_back(m_graph.nodes[match.product].displayName());
    m_result.added += std::ssize(match.parts) - 1;
    return Done{};
  }

  /// Part `i`, whose columns begin at `first`.
  Status writePart(const Match& match, std::size_t i, std::int64_t first) {
    const std::string suffix = "/part_" + std::to_string(i);
    const std::int64_t count = match.parts[i];
    const auto cut = [&](const std::string& name, std::int64_t axis) {
      return columns(name, axis, first, count, suffix);
    };
    FileNode dequantize = m_graph.nodes[match.dequantize];
    dequantize.inputs[0] = TRY(cut(dequantize.inputs[0], match.outputAxis));
    for (std::size_t slot = 1; slot < dequantize.inputs.size(); ++slot)
      if (!dequantize.inputs[slot].empty()) dequantize.inputs[slot] = TRY(cut(dequantize.inputs[slot], 0));
    FileNode product = m_graph.nodes[match.product];
    product.inputs[1] = add(std::move(dequantize), suffix);
    if (product.inputs.size() > 2 && !product.inputs[2].empty()) product.inputs[2] = TRY(cut(product.inputs[2], 0));
    const std::string& result = m_graph.nodes[match.split].outputs[i];
    std::string value = add(std::move(product), suffix, match.between.empty() ? result : std::string());
    for (const std::size_t place : match.between) {
      FileNode node = m_graph.nodes[place];
      const std::size_t held = is(node, "Add") ? *constantOperand(node) : 1;
      node.inputs[held] = is(node, "Add") ? TRY(cut(node.inputs[held], 0)) : extents(node.inputs[held], count, suffix);
      node.inputs[is(node, "Add") ? 1 - held : 0] = value;
      value = add(std::move(node), suffix, place == match.between.back() ? result : std::string());
    }
    return Done{};
  }

  /// The name of what it makes: `result`, or one of its own.
  std::string add(FileNode node, const std::string& suffix, const std::string& result = {}) {
    node.name = freshName(node.displayName() + suffix, m_names);
    node.outputs = {result.empty() ? freshName(node.outputs[0] + suffix, m_names) : result};
    m_result.edits.nodes.push_back({.graph = {}, .node = node});
    return node.outputs[0];
  }

  Result<std::string> columns(const std::string& name, std::int64_t axis, std::int64_t first, std::int64_t count,
                              const std::string& suffix) {
    const Node slice{.op = "Slice",
                     .name = name,
                     .inputs = {ValueId(0), ValueId(1), ValueId(2), ValueId(3)},
                     .outputs = {ValueId(4)}};
    const Tensor whole = toTensor(*constant(name)), begin = Tensor::ofInt64({first}),
                 end = Tensor::ofInt64({first + count}), along = Tensor::ofInt64({axis});
    const Tensor* const operands[] = {&whole, &begin, &end, &along};
    return addConstant(TRY(runNode(slice, operands)).front(), name + suffix);
  }

  /// The extents of a Reshape, of which the last one is `count` now.
  std::string extents(const std::string& name, std::int64_t count, const std::string& suffix) {
    const Tensor whole = toTensor(*constant(name));
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = 0; i + 1 < whole.count(); ++i) numbers.push_back(whole.asInt64(i));
    numbers.push_back(count);
    return addConstant(Tensor::ofInt64(std::move(numbers)), name + suffix);
  }

  std::string addConstant(const Tensor& tensor, const std::string& wanted) {
    const std::string name = freshName(wanted, m_names);
    m_result.edits.initializers.push_back({.graph = {}, .tensor = fileTensor(name, tensor)});
    return name;
  }

  const FileGraph& m_graph;
  const SplitQuestions& m_questions;
  std::set<std::string> m_names;
  std::map<std::string, std::size_t> m_makers;
  std::map<std::string, const onnxlib::FileTensor*> m_constants;
  std::map<std::string, int> m_reads;
  SplitProducts m_result;
};

}  // namespace

Result<SplitProducts> splitProducts(const onnxlib::FileModel& file, const SplitQuestions& questions) {
  return Writer(file, questions).run();
}

}  // namespace fusescope
