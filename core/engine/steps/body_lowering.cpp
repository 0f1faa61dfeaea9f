#include "engine/steps/body_lowering.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "backends/reference/reference_nodes.h"
#include "engine/steps/control_flow_step.h"
#include "engine/steps/loop_step.h"

namespace fusescope {
namespace {

/// A branch of an If: its programs, and the operands of the node that it captures.
struct Branch {
  std::unique_ptr<BodyPrograms> programs;
  std::size_t firstCapture = 0;
  std::vector<Dims> extents;  ///< the extents of the captured operands in the current run
};

/// Runs the selected branch directly on the surrounding values, which are not copied. Its results are written to their
/// final place.
class IfStep final : public ControlFlowStep {
 public:
  IfStep(ControlFlowParts parts, Branch thenBranch, Branch elseBranch);
  void addWeights(PackedSet& weights) const override;

 protected:
  Status execute(ResultSink& results, const StopToken& stop) override;

 private:
  Branch m_then, m_else;
};

IfStep::IfStep(ControlFlowParts parts, Branch thenBranch, Branch elseBranch)
    : ControlFlowStep(std::move(parts)), m_then(std::move(thenBranch)), m_else(std::move(elseBranch)) {}

void IfStep::addWeights(PackedSet& weights) const {
  m_then.programs->addWeights(weights);
  m_else.programs->addWeights(weights);
}

Status IfStep::execute(ResultSink& results, const StopToken& stop) {
  Branch& branch = TRY(flagAt(0)) ? m_then : m_else;
  const std::size_t captures = branch.extents.size();
  for (std::size_t i = 0; i < captures; ++i) branch.extents[i] = *operand(branch.firstCapture + i).dims;
  BodyProgram& body = *TRY(branch.programs->at(branch.extents, stop));
  for (std::size_t i = 0; i < captures; ++i) body.setInput(i, operand(branch.firstCapture + i));
  const auto& outputs = body.outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::size_t to = outputOf(i);
    if (outputs[i].direct && to != SIZE_MAX)
      body.setOutput(i, TRY(results.place(to, outputs[i].type, outputs[i].dims)));
    else if (outputs[i].direct)
      body.setOutput(i, branch.programs->unread(outputs[i].bytes));
  }
  if (Status status = body.run(stop); !status.ok()) return branch.programs->located(std::move(status).error());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::size_t to = outputOf(i);
    if (to == SIZE_MAX || outputs[i].direct) continue;
    const Tensor boxed = outputs[i].boxed ? body.boxedOutput(i) : Tensor();
    std::byte* bytes = TRY(results.place(to, outputs[i].type, outputs[i].boxed ? boxed.dims() : outputs[i].dims));
    const std::size_t count = outputs[i].boxed ? boxed.byteSize() : outputs[i].bytes;
    if (count > 0) std::memcpy(bytes, outputs[i].boxed ? boxed.bytes() : body.at(i), count);
  }
  return Done{};
}

class BodyLowering {
 public:
  BodyLowering(const KernelRequest& request, const std::vector<BorderType>& inputs,
               const std::vector<BorderType>& outputs, const LoweringRequest& around, LowerPlan lower,
               TacticChooser& chooser)
      : m_request(request),
        m_plan(*request.plan),
        m_node(m_plan.graph().node(request.fused->root)),
        m_around(around),
        m_lower(lower),
        m_chooser(chooser) {
    m_parts.name = m_node.name;
    m_parts.inputs = inputs;
    m_parts.outputs = outputs;
    for (const ValueId operand : operands(m_node)) m_parts.operands.push_back(sourceOf(operand));
    for (const ValueId output : m_node.outputs) {
      const auto& all = request.fused->outputs;
      const auto found = std::ranges::find(all, output, &FusedOutput::value);
      m_parts.outputIndex.push_back(found == all.end() ? SIZE_MAX : static_cast<std::size_t>(found - all.begin()));
    }
  }

  Result<LoweredBodies> run() {
    LoweredBodies lowered;
    lowered.step = m_node.is("If") ? TRY(lowerIf()) : TRY(lowerLoop());
    lowered.emulated = m_emulated;
    return lowered;
  }

 private:
  OperandSource sourceOf(ValueId operand) {
    if (!operand.valid()) return {};
    const auto& inputs = m_request.fused->inputs;
    const auto input = std::ranges::find(inputs, operand);
    if (input != inputs.end()) return {OperandSource::From::Input, static_cast<std::size_t>(input - inputs.begin())};
    m_parts.constants.push_back(m_request.constants.at(operand).aligned());
    return {OperandSource::From::Constant, m_parts.constants.size() - 1};
  }

  /// Returns the extents of an operand if they are known.
  std::optional<Dims> extentsOf(std::size_t operand) const {
    const OperandSource& source = m_parts.operands[operand];
    if (source.from == OperandSource::From::Absent) return std::nullopt;
    if (source.from == OperandSource::From::Input) return m_parts.inputs[source.index].dims;
    return m_parts.constants[source.index].dims();
  }

  /// Returns the programs of a body. If the extents of its inputs are known, the first program is lowered here.
  Result<std::unique_ptr<BodyPrograms>> programs(const std::string& attribute,
                                                 const std::vector<std::optional<Dims>>& inputs) {
    const Plan& body = *m_plan.bodyPlan(m_node.id, attribute);
    TacticChooser& chooser = *TRY(m_chooser.ofBody(body, {m_node.name, attribute}));
    auto programs =
        std::make_unique<BodyPrograms>(body, m_around, m_lower, chooser, BodyPath().into(m_node, attribute));
    std::vector<Dims> extents;
    for (const auto& dims : inputs)
      if (dims) extents.push_back(*dims);
    if (extents.size() != inputs.size()) {
      const auto imitates = [&](const FusedNode& fused) { return isEmulated(body, fused); };
      m_emulated = m_emulated || std::ranges::any_of(body.fusedNodes, imitates);
      return programs;
    }
    // A body that cannot run at these extents is usually one that is never run; if it is run, the error is reported
    // then.
    const auto program = programs->at(extents, m_around.stop);
    if (!program.ok() && program.error().cancelled) return program.error();
    if (program.ok()) m_emulated = m_emulated || std::ranges::any_of(program.value()->program().steps, &Step::emulated);
    return programs;
  }

  Result<std::shared_ptr<BodyStep>> lowerIf() {
    std::size_t at = m_node.inputs.size();
    Branch branches[2];  // in the order of the attributes
    const char* const names[] = {"else_branch", "then_branch"};
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t captures = std::get<Subgraph>(m_node.attributes.at(names[i])).captures.size();
      branches[i].firstCapture = at;
      branches[i].extents.resize(captures);
      std::vector<std::optional<Dims>> inputs;
      for (std::size_t k = 0; k < captures; ++k) inputs.push_back(extentsOf(at + k));
      branches[i].programs = TRY(programs(names[i], inputs));
      at += captures;
    }
    return std::shared_ptr<BodyStep>(
        std::make_shared<IfStep>(std::move(m_parts), std::move(branches[1]), std::move(branches[0])));
  }

  SliceAxis axisOf(const char* axes, const char* directions, std::size_t i) const {
    const auto axis = m_node.intsAttribute(axes), direction = m_node.intsAttribute(directions);
    return {.axis = i < axis.size() ? axis[i] : 0, .fromEnd = i < direction.size() && direction[i] == 1};
  }

  LoopForm formOf() const {
    const Graph& body = m_plan.bodyPlan(m_node.id, "body")->graph();
    LoopForm form{.isLoop = m_node.is("Loop"), .nodeInputs = m_node.inputs.size()};
    if (form.isLoop) {
      form.carried = m_node.inputs.size() - std::min<std::size_t>(m_node.inputs.size(), 2);
    } else {
      const auto scanned = static_cast<std::size_t>(m_node.intAttribute("num_scan_inputs", 0));
      form.carried = m_node.inputs.size() - scanned;
      for (std::size_t i = 0; i < scanned; ++i)
        form.scanned.push_back(axisOf("scan_input_axes", "scan_input_directions", i));
    }
    const std::size_t collected = body.outputs().size() - form.firstCollected();
    for (std::size_t i = 0; i < collected; ++i)
      form.collected.push_back(form.isLoop ? SliceAxis{} : axisOf("scan_output_axes", "scan_output_directions", i));
    return form;
  }

  /// Returns the extents of the body's inputs in the first iteration.
  std::vector<std::optional<Dims>> firstExtents(const LoopForm& form, std::size_t inputs) const {
    std::vector<std::optional<Dims>> extents(inputs, Dims{});
    for (std::size_t i = form.firstCarried(); i < form.firstCapture(); ++i) {
      extents[i] = extentsOf(i);
      if (i < form.firstSlice() || !extents[i]) continue;
      const std::int64_t axis = form.scanned[i - form.firstSlice()].axis;
      extents[i]->erase(extents[i]->begin() + (axis < 0 ? axis + std::ssize(*extents[i]) : axis));
    }
    for (std::size_t i = form.firstCapture(); i < inputs; ++i)
      extents[i] = extentsOf(form.nodeInputs + i - form.firstCapture());
    return extents;
  }

  Result<std::shared_ptr<BodyStep>> lowerLoop() {
    LoopForm form = formOf();
    const std::size_t inputs = m_plan.bodyPlan(m_node.id, "body")->graph().inputs().size();
    auto body = TRY(programs("body", firstExtents(form, inputs)));
    return std::shared_ptr<BodyStep>(std::make_shared<LoopStep>(std::move(m_parts), std::move(form), std::move(body)));
  }

  const KernelRequest& m_request;
  const Plan& m_plan;
  const Node& m_node;
  const LoweringRequest& m_around;
  LowerPlan m_lower;
  TacticChooser& m_chooser;
  ControlFlowParts m_parts;
  bool m_emulated = false;
};

/// Returns whether the slices into which a Loop or Scan divides its inputs, and from which it makes its outputs, are
/// whole bytes.
bool hasWholeSlices(const Plan& body) {
  const auto isWhole = [&](ValueId value) { return !isPacked(body.graph().value(value).type.dtype); };
  return std::ranges::all_of(body.graph().inputs(), isWhole) && std::ranges::all_of(body.graph().outputs(), isWhole);
}

}  // namespace

bool hasPlannedBodies(const Plan& plan, const FusedNode& fused) {
  const Node& node = plan.graph().node(fused.root);
  if (node.is("If"))
    return plan.bodyPlan(node.id, "then_branch") != nullptr && plan.bodyPlan(node.id, "else_branch") != nullptr;
  const Plan* body = node.is("Loop") || node.is("Scan") ? plan.bodyPlan(node.id, "body") : nullptr;
  return body != nullptr && hasWholeSlices(*body);
}

Result<LoweredBodies> lowerBodies(const KernelRequest& node, const std::vector<BorderType>& inputs,
                                  const std::vector<BorderType>& outputs, const LoweringRequest& around,
                                  LowerPlan lower, TacticChooser& chooser) {
  return BodyLowering(node, inputs, outputs, around, lower, chooser).run();
}

}  // namespace fusescope
