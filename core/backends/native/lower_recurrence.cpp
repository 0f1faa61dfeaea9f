#include "backends/native/lowering.h"
#include "backends/native/recurrent_step.h"
#include "ops/support/recurrent_activation.h"

namespace fusescope::native {
namespace {

/// No peepholes, no coupled gates, all sequences of one length.
bool isPlainRecurrence(const Node& node) {
  if (!node.is("LSTM") && !node.is("GRU")) return false;
  if (node.input(4).valid() || node.input(7).valid() || node.intAttribute("input_forget", 0) != 0) return false;
  return ops::hasStandardActivations(node);
}

}  // namespace

Result<bool> Lowering::lowerRecurrence(const Node& node) {
  if (!isPlainRecurrence(node) || typeOf(node.input(0)) != DataType::F32) return false;
  const Tensor *w = constant(node.input(1)), *r = constant(node.input(2));
  const Tensor* b = node.input(3).valid() ? constant(node.input(3)) : nullptr;
  if (w == nullptr || r == nullptr || (node.input(3).valid() && b == nullptr)) return false;
  if (w->type() != DataType::F32 || r->type() != DataType::F32) return false;
  const Dims x = dimsOf(node.input(0));
  const bool batchFirst = node.intAttribute("layout", 0) != 0;
  RecurrentCall call{.isLstm = node.is("LSTM"),
                     .resetsProduct = node.is("GRU") && node.intAttribute("linear_before_reset", 0) != 0,
                     .batchFirst = batchFirst,
                     .time = x[batchFirst ? 1 : 0],
                     .batch = x[batchFirst ? 0 : 1],
                     .features = x[2],
                     .hidden = r->dims()[2],
                     .w = *w,
                     .r = *r};
  if (b != nullptr) call.b = *b;
  const std::string direction = node.textAttribute("direction", "forward");
  call.fromEnd = {static_cast<char>(direction == "reverse")};
  if (direction == "bidirectional") call.fromEnd = {0, 1};
  call.x = TRY(plain(TRY(ref(node.input(0)))));
  std::vector<BufferIndex> reads{call.x.buffer}, writes;
  for (const auto& [input, into] : {std::pair(5, &call.initialState), std::pair(6, &call.initialCell)}) {
    const ValueId value = node.input(static_cast<std::size_t>(input));
    if (!value.valid()) continue;
    *into = TRY(plain(TRY(ref(value))));
    reads.push_back((*into)->buffer);
  }
  std::optional<Ref>* const results[] = {&call.all, &call.state, &call.cell};
  for (std::size_t i = 0; i < node.outputs.size() && i < 3; ++i) {
    if (!node.outputs[i].valid() || !m_request.values.contains(node.outputs[i])) continue;
    *results[i] = allocate(node.outputs[i]);
    define(node.outputs[i], **results[i]);
    writes.push_back((*results[i])->buffer);
  }
  m_implementations.emplace_back(call.isLstm ? "lstm" : "gru");
  m_program.addStep(makeRecurrentStep(std::move(call), m_threads), reads, writes);
  return true;
}

}  // namespace fusescope::native
