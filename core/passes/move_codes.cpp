#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>

#include "analysis/users.h"
#include "base/sort_distinct.h"
#include "passes/prepare_passes.h"

namespace fusescope {
namespace {

/// Operators that only move elements.
constexpr std::array kMoves{"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose"};

/// Operators that leave elements out or repeat them.
constexpr std::array kPicks{"Gather", "Slice"};

bool isMove(const Node& node) {
  return node.domain.empty() && std::ranges::find(kMoves, node.op) != kMoves.end() && node.input(0).valid() &&
         node.outputs.size() == 1 && node.outputs[0].valid();
}

bool movesOrPicks(const Node& node) {
  const bool picks = node.domain.empty() && std::ranges::find(kPicks, node.op) != kPicks.end();
  return isMove(node) || (picks && node.input(0).valid() && node.outputs[0].valid());
}

class CodeMoves {
 public:
  CodeMoves(PassContext& context, std::string_view pass) : m_context(context), m_graph(context.graph), m_pass(pass) {}

  /// move(DequantizeLinear(q)) ⟶ DequantizeLinear(move(q)), for each move that reads it and for those after it.
  bool sink(const Node& dequantize) {
    const auto codes = codesOf(dequantize);
    if (!codes || m_graph.isConstant(dequantize.input(0))) return false;
    if (std::ranges::none_of(readersOf(dequantize.outputs[0]), movesFrom(dequantize.outputs[0]))) return false;
    Sinking sinking{.node = dequantize, .codes = *codes};
    sinkFrom(sinking, dequantize.input(0), dequantize.outputs[0]);
    record(dequantize, sinking.moves);
    return true;
  }

  /// QuantizeLinear(move(x))  ⟶  move(QuantizeLinear(x)).
  bool rise(const Node& quantize) {
    const auto codes = codesOf(quantize);
    if (!codes) return false;
    std::vector<NodeId> chain;
    for (ValueId value = quantize.input(0);;) {
      const NodeId made = m_graph.value(value).producer;
      const bool passes = m_graph.has(made) && !m_moved.contains(made) && isMove(m_graph.node(made)) &&
                          !m_graph.isOutput(value) && hasSingleUse(m_graph, value);
      if (!passes) break;
      chain.insert(chain.begin(), made);
      value = m_graph.node(made).input(0);
    }
    if (chain.empty()) return false;
    const ValueId result = quantize.outputs[0], from = m_graph.node(chain.front()).input(0);
    const ValueId held = m_context.editor.addValue(m_graph.value(from).name + "/codes", typeOfCodes(from, *codes));
    m_context.editor.redirectOutput(quantize.id, result, held);
    m_context.editor.mutableNode(quantize.id).inputs[0] = from;
    const ValueId moved = moveCodes(chain, held, *codes);
    m_context.editor.redirectOutput(chain.back(), moved, result);
    m_context.editor.removeValue(moved);
    record(quantize, chain.size());
    return true;
  }

 private:
  /// Returns the type of the codes of a node with a single scale; nothing for other nodes.
  std::optional<DataType> codesOf(const Node& node) const {
    const bool quantizes = node.is("QuantizeLinear"), dequantizes = node.is("DequantizeLinear");
    if (!(quantizes || dequantizes) || !node.domain.empty() || node.intAttribute("block_size", 0) != 0) return {};
    const ValueId scale = node.input(1), zero = node.input(2);
    const auto isOne = [&](ValueId value) {
      return m_graph.isConstant(value) && elementCount(m_graph.value(value).constant->dims()) == 1;
    };
    if (!isOne(scale) || !zero.valid() || !isOne(zero)) return {};
    const DataType type = m_graph.value(zero).type.dtype;
    return isByteInteger(type) ? std::optional(type) : std::nullopt;
  }

  std::vector<NodeId> readersOf(ValueId value) const {
    std::vector<NodeId> readers = m_graph.value(value).consumers;
    sortDistinct(readers);
    return readers;
  }

  std::function<bool(NodeId)> movesFrom(ValueId value) const {
    return [this, value](NodeId reader) {
      const Node& node = m_graph.node(reader);
      return movesOrPicks(node) && node.input(0) == value;
    };
  }

  /// A DequantizeLinear that is being moved down.
  struct Sinking {
    const Node& node;
    DataType codes;
    bool isPlaced = false;  ///< the node itself; further ones are copies
    std::size_t moves = 0;
  };

  /// `floats` are the numbers that `codes` represent.
  void sinkFrom(Sinking& sinking, ValueId codes, ValueId floats) {
    const std::vector<NodeId> readers = readersOf(floats);
    const auto isMove = movesFrom(floats);
    const bool stays = m_graph.isOutput(floats) || readers.empty() || !std::ranges::all_of(readers, isMove);
    if (stays) place(sinking, codes, floats);
    for (const NodeId reader : readers) {
      if (!isMove(reader)) continue;
      const ValueId moved = moveCodes({reader}, codes, sinking.codes);
      ++sinking.moves;
      sinkFrom(sinking, moved, m_graph.node(reader).outputs[0]);
    }
    if (!stays) m_context.editor.removeValue(floats);
  }

  void place(Sinking& sinking, ValueId codes, ValueId floats) {
    const Node& node = sinking.node;
    if (sinking.isPlaced) {
      Node copy = node;
      copy.inputs[0] = codes;
      copy.outputs = {floats};
      m_context.ledger.add(copy, 1);
      m_context.editor.addNode(std::move(copy));
    } else if (floats != node.outputs[0]) {
      m_context.editor.mutableNode(node.id).inputs[0] = codes;
      m_context.editor.redirectOutput(node.id, node.outputs[0], floats);
    }
    sinking.isPlaced = true;
  }

  TensorType typeOfCodes(ValueId floats, DataType codes) const {
    TensorType type = m_graph.value(floats).type;
    type.dtype = codes;
    return type;
  }

  /// Makes `chain` work on codes, starting from `codes`; its result is a new value. Its former result has no producer
  /// any more, and the values in between are removed.
  ValueId moveCodes(const std::vector<NodeId>& chain, ValueId codes, DataType type) {
    for (const NodeId id : chain) {
      const ValueId floats = m_graph.node(id).outputs[0];
      const ValueId moved = m_context.editor.addValue(m_graph.value(floats).name + "/codes", typeOfCodes(floats, type));
      m_context.editor.mutableNode(id).inputs[0] = codes;
      m_context.editor.redirectOutput(id, floats, moved);
      m_moved.insert(id);
      codes = moved;
    }
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) m_context.editor.removeValue(m_graph.node(chain[i]).outputs[0]);
    return codes;
  }

  void record(const Node& node, std::size_t moves) {
    m_context.decisions.push_back(
        decide("normalise.codes_moved", {Subject::node(node.name)}, std::string(m_pass), {{"moves", moves}}));
  }

  PassContext& m_context;
  const Graph& m_graph;
  std::string_view m_pass;
  std::set<NodeId> m_moved;
};

class MoveCodes : public Pass {
 public:
  std::string_view name() const override { return "move_codes"; }

  Result<bool> run(PassContext& context) const override {
    CodeMoves moves(context, name());
    bool changed = false;
    for (const NodeId id : context.graph.order())
      if (context.graph.node(id).is("DequantizeLinear")) changed = moves.sink(context.graph.node(id)) || changed;
    for (const NodeId id : context.graph.order())
      if (context.graph.node(id).is("QuantizeLinear")) changed = moves.rise(context.graph.node(id)) || changed;
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> moveCodes() {
  return std::make_unique<MoveCodes>();
}

}  // namespace fusescope
