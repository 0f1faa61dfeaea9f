#include "engine/program/joins.h"

#include <algorithm>

#include "base/aligned_memory.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

/// Returns the buffer that contains all bytes of `input` and that is, or can be, a part of the output of `join`.
std::size_t partOf(const Program& program, const Join& join, std::size_t input) {
  std::size_t part = input;
  while (program.buffers[part].within != part && program.buffers[part].within != join.output)
    part = program.buffers[part].within;
  return part;
}

class Joiner {
 public:
  Joiner(Program& program, const Plan& plan) : m_program(program), m_plan(plan) {}

  void run() {
    std::vector<bool> goes(m_program.steps.size(), false);
    for (std::size_t i = 0; i < goes.size(); ++i) {
      const auto join = joinOf(m_program.steps[i]);
      if (!join || !takes(*join)) continue;
      goes[i] = true;
      for (const std::size_t input : join->inputs)
        m_program.buffers[partOf(m_program, *join, input)].within = join->output;
      m_program.views.push_back({join->fused, i, std::nullopt});
      m_program.joins.push_back(*join);
    }
    if (m_program.joins.empty()) return;
    std::vector<Step> kept;
    std::vector<std::size_t> before;  // the number of remaining steps before each step
    for (std::size_t i = 0; i < goes.size(); ++i) {
      before.push_back(kept.size());
      if (!goes[i]) kept.push_back(std::move(m_program.steps[i]));
    }
    before.push_back(kept.size());
    m_program.steps = std::move(kept);
    for (FreeView& view : m_program.views) view.afterStep = before[view.afterStep];
    std::ranges::stable_sort(m_program.views, {}, &FreeView::afterStep);
    placeViews(m_program);
  }

 private:
  /// Returns the step as a join if it is a Concat of plain tensors.
  std::optional<Join> joinOf(const Step& step) const {
    if (step.kernel == nullptr || step.compiledBy == nullptr) return std::nullopt;
    const FusedNode& fused = m_plan.fusedNodes[step.fused.index];
    const Node& node = m_plan.graph().node(fused.root);
    const auto isPlain = [](const MemoryFormat& format) { return format.isPlain(); };
    if (fused.nodes.size() != 1 || !node.is("Concat") || node.inputs.size() != step.inputs.size() ||
        !std::ranges::all_of(step.compiledBy->inputs, isPlain) ||
        !std::ranges::all_of(step.compiledBy->outputs, isPlain))
      return std::nullopt;
    const std::int64_t rank = std::ssize(m_program.buffers[step.outputs[0]].desc.dims);
    const std::int64_t axis = node.intAttribute("axis", 0);
    return Join{.fused = step.fused,
                .tactic = step.compiledBy,
                .output = step.outputs[0],
                .inputs = step.inputs,
                .axis = static_cast<std::size_t>(axis + (axis < 0 ? rank : 0))};
  }

  bool takes(const Join& join) {
    const Buffer& output = m_program.buffers[join.output];
    std::vector<std::size_t> parts;
    for (const std::size_t input : join.inputs) {
      const Buffer& buffer = m_program.buffers[input];
      const std::size_t part = buffer.root;
      const bool isWhole = buffer.desc.bytes() == m_program.buffers[part].desc.bytes();
      if (buffer.device != output.device || buffer.desc.dtype != output.desc.dtype || isPacked(buffer.desc.dtype) ||
          !isWhole || !isFree(part) || std::ranges::find(parts, part) != parts.end())
        return false;
      parts.push_back(part);
    }
    return placeJoin(m_program, join);
  }

  /// Returns whether a kernel writes the buffer into the arena, and the buffer is not part of another one yet.
  bool isFree(std::size_t id) const {
    const Buffer& buffer = m_program.buffers[id];
    const auto makes = [&](const Step& step) {
      return step.kernel != nullptr && std::ranges::find(step.outputs, id) != step.outputs.end();
    };
    return buffer.place == Place::Arena && buffer.within == id && buffer.desc.format.isPlain() &&
           std::ranges::any_of(m_program.steps, makes);
  }

  Program& m_program;
  const Plan& m_plan;
};

}  // namespace

bool placeJoin(Program& program, const Join& join) {
  const Dims& whole = program.buffers[join.output].desc.dims;
  const auto isOne = [](std::int64_t extent) { return extent == 1; };
  if (!std::all_of(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(join.axis), isOne)) return false;
  std::size_t begin = 0;
  for (const std::size_t input : join.inputs) {
    const Buffer& buffer = program.buffers[input];
    program.buffers[partOf(program, join, input)].shift = begin;
    if (begin % kTensorAlignment != 0 || buffer.desc.bytes() == 0) return false;
    begin += buffer.desc.bytes();
  }
  return true;
}

void joinInPlace(Program& program, const Plan& plan) {
  Joiner(program, plan).run();
}

}  // namespace fusescope
