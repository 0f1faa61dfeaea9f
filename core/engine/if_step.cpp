#include "engine/if_step.h"

#include <cstring>

namespace fusescope {

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

}  // namespace fusescope
