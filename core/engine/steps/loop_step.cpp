#include "engine/steps/loop_step.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>

#include "ir/graph.h"

namespace fusescope {
namespace {

// The alignment that kernels expect of their operands, in bytes.
constexpr std::uintptr_t kOperandAlignment = 16;
// The most bytes that are reserved for collected results before they exist.
constexpr std::size_t kMostReserved = std::size_t{1} << 26;

bool isAligned(const std::byte* bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes) % kOperandAlignment == 0;
}

std::int64_t product(const Dims& dims, std::size_t begin, std::size_t end) {
  std::int64_t count = 1;
  for (std::size_t i = begin; i < end; ++i) count *= dims[i];
  return count;
}

void copyBytes(const std::byte* from, std::size_t bytes, std::byte* to) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

/// Returns the extents of a body's output as inference knows them; 0 for each unknown one.
Dims inferredExtents(const Graph& body, std::size_t output) {
  Dims dims;
  for (const Dim& dim : body.value(body.outputs()[output]).type.shape.dims)
    dims.push_back(std::max<std::int64_t>(dim.size, 0));
  return dims;
}

}  // namespace

LoopStep::LoopStep(ControlFlowParts parts, LoopForm form, std::unique_ptr<BodyPrograms> body)
    : ControlFlowStep(std::move(parts)),
      m_form(std::move(form)),
      m_body(std::move(body)),
      m_extents(m_body->graph().inputs().size()),
      m_carried(m_form.carried),
      m_scanned(m_form.scanned.size()),
      m_collected(m_form.collected.size()) {}

Status LoopStep::startScanned(std::size_t i) {
  const std::size_t at = m_form.firstSlice() + i;
  const Dims& dims = *operand(at).dims;
  const std::int64_t given = m_form.scanned[i].axis;
  const auto axis = static_cast<std::size_t>(given < 0 ? given + std::ssize(dims) : given);
  Scanned& scanned = m_scanned[i];
  const DataType type = m_body->graph().value(m_body->graph().inputs()[at]).type.dtype;
  scanned.extent = dims[axis];
  scanned.before = static_cast<std::size_t>(product(dims, 0, axis));
  scanned.sliceBytes = byteSize(type, product(dims, axis + 1, dims.size()));
  Dims& slice = m_extents[at];
  slice.resize(dims.size() - 1);
  std::copy_n(dims.begin(), axis, slice.begin());
  std::copy(dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, dims.end(),
            slice.begin() + static_cast<std::ptrdiff_t>(axis));
  return Done{};
}

/// Sets up the first iteration. Returns the largest possible number of iterations.
Result<std::int64_t> LoopStep::start() {
  m_bound = nullptr;
  m_goOn = std::byte{1};
  std::int64_t trips = std::numeric_limits<std::int64_t>::max();
  if (m_form.isLoop) {
    if (m_form.nodeInputs > 0 && hasOperand(0)) trips = TRY(numberAt(0));
    if (m_form.nodeInputs > 1 && hasOperand(1)) m_goOn = std::byte{TRY(flagAt(1))};
  }
  for (std::size_t i = 0; i < m_carried.size(); ++i) {
    Carried& carried = m_carried[i];
    carried.now = operand(m_form.firstCarried() + i);
    carried.dims = *carried.now.dims;
    carried.now.dims = &carried.dims;
    m_extents[m_form.firstCarried() + i] = carried.dims;
  }
  for (std::size_t i = 0; i < m_scanned.size(); ++i) {
    TRY(startScanned(i));
    if (i > 0 && m_scanned[i].extent != trips)
      return Diagnostic{.message = "the inputs that are scanned have " + std::to_string(trips) + " and " +
                                   std::to_string(m_scanned[i].extent) + " slices",
                        .where = {.node = name()}};
    trips = m_scanned[i].extent;
  }
  for (std::size_t i = m_form.firstCapture(); i < m_extents.size(); ++i)
    m_extents[i] = *operand(m_form.nodeInputs + i - m_form.firstCapture()).dims;
  for (Collected& collected : m_collected) collected.elements.clear();
  return trips;
}

/// Points the input of the body at the slice. Copies the slice only if it is not contiguous and aligned.
void LoopStep::readSlice(std::size_t i, std::int64_t trip) {
  Scanned& scanned = m_scanned[i];
  const std::size_t at = m_form.firstSlice() + i;
  const std::int64_t place = m_form.scanned[i].fromEnd ? scanned.extent - 1 - trip : trip;
  const std::byte* from = operand(at).bytes + static_cast<std::size_t>(place) * scanned.sliceBytes;
  if (scanned.before != 1 || !isAligned(from)) {
    std::byte* to = scanned.aligned.atLeast(scanned.before * scanned.sliceBytes);
    const std::size_t stride = static_cast<std::size_t>(scanned.extent) * scanned.sliceBytes;
    for (std::size_t piece = 0; piece < scanned.before; ++piece)
      copyBytes(from + piece * stride, scanned.sliceBytes, to + piece * scanned.sliceBytes);
    from = to;
  }
  m_bound->setInput(at, {.bytes = from, .dims = &m_extents[at]});
}

void LoopStep::bind(BodyProgram& body, std::int64_t trip) {
  const bool isNew = m_bound != &body || m_boundAt != m_body->lowered();
  m_bound = &body;
  m_boundAt = m_body->lowered();
  if (isNew) {
    for (std::size_t i = m_form.firstCapture(); i < m_extents.size(); ++i)
      body.setInput(i, operand(m_form.nodeInputs + i - m_form.firstCapture()));
    if (m_form.isLoop) {
      body.setInput(0, {.bytes = reinterpret_cast<const std::byte*>(&m_number), .dims = &m_extents[0]});
      body.setInput(1, {.bytes = &m_condition, .dims = &m_extents[1]});
      body.setOutput(0, &m_goOn);
    }
  }
  m_number = trip;
  const auto& outputs = body.outputs();
  for (std::size_t i = 0; i < m_carried.size(); ++i) {
    Carried& carried = m_carried[i];
    body.setInput(m_form.firstCarried() + i, carried.now);
    const auto& output = outputs[m_form.firstGiven() + i];
    if (output.boxed) continue;
    const bool inFirst = carried.now.bytes == carried.buffers[0].data();
    carried.next = carried.buffers[inFirst ? 1 : 0].atLeast(output.bytes);
    if (output.direct) body.setOutput(m_form.firstGiven() + i, carried.next);
  }
  for (std::size_t i = 0; i < m_scanned.size(); ++i) readSlice(i, trip);
  for (std::size_t i = 0; i < m_collected.size(); ++i) {
    const auto& output = outputs[m_form.firstCollected() + i];
    if (output.direct) body.setOutput(m_form.firstCollected() + i, m_collected[i].next.atLeast(output.bytes));
  }
}

/// Determines the value of carried value `i` in the next iteration. A value that the body captures or passes on
/// unchanged is not copied.
void LoopStep::carryOn(BodyProgram& body, std::size_t i) {
  const auto& output = body.outputs()[m_form.firstGiven() + i];
  Carried& carried = m_carried[i];
  if (output.boxed) {
    carried.box = body.boxedOutput(m_form.firstGiven() + i);
    carried.dims = carried.box.dims();
    carried.now = {.bytes = carried.box.bytes(), .dims = &carried.dims, .box = &carried.box};
    return;
  }
  const bool own = output.input == m_form.firstCarried() + i;
  const bool captured = output.input && *output.input >= m_form.firstCapture();
  if (output.direct) {
    carried.now.bytes = carried.next;
  } else if (captured) {
    carried.now.bytes = body.at(m_form.firstGiven() + i);
  } else if (!own) {
    copyBytes(body.at(m_form.firstGiven() + i), output.bytes, carried.next);
    carried.now.bytes = carried.next;
  }
  if (carried.dims != output.dims) carried.dims = output.dims;
  carried.now.box = nullptr;
}

Status LoopStep::collect(BodyProgram& body, std::size_t i) {
  const std::size_t at = m_form.firstCollected() + i;
  const auto& output = body.outputs()[at];
  Collected& collected = m_collected[i];
  const Tensor boxed = output.boxed ? body.boxedOutput(at) : Tensor();
  const Dims& dims = output.boxed ? boxed.dims() : output.dims;
  if (m_number == 0) {
    collected.element = dims;
    collected.type = output.type;
    collected.elementBytes = byteSize(output.type, product(dims, 0, dims.size()));
    const auto few = static_cast<std::int64_t>(kMostReserved / std::max<std::size_t>(collected.elementBytes, 1));
    collected.elements.reserve(static_cast<std::size_t>(std::min(m_most, few)) * collected.elementBytes);
  } else if (collected.element != dims) {
    return Diagnostic{.message = "an iteration gives " + toText(dims) + " where the first gave " +
                                 toText(collected.element) + ", so that they cannot be concatenated",
                      .where = {.node = name()}};
  }
  const std::byte* from = output.boxed ? boxed.bytes() : output.direct ? collected.next.data() : body.at(at);
  collected.elements.insert(collected.elements.end(), from, from + collected.elementBytes);
  return Done{};
}

Diagnostic LoopStep::notSingle(const Dims& dims) const {
  return {.message = "the condition that the body calculates must be a single bool, but has extents " + toText(dims),
          .where = {.node = name()}};
}

Status LoopStep::checkCondition(const BodyProgram& body) const {
  if (!m_form.isLoop || body.outputs()[0].boxed || body.outputs()[0].bytes == 1) return Done{};
  return notSingle(body.outputs()[0].dims);
}

Status LoopStep::iterate(std::int64_t trip, const StopToken& stop) {
  BodyProgram& body = *TRY(m_body->at(m_extents, stop));
  TRY(checkCondition(body));
  bind(body, trip);
  if (Status status = body.run(stop); !status.ok()) return m_body->located(std::move(status).error());
  if (m_form.isLoop && !body.outputs()[0].direct) {
    const Tensor boxed = body.outputs()[0].boxed ? body.boxedOutput(0) : Tensor();
    if (body.outputs()[0].boxed && boxed.count() != 1) return notSingle(boxed.dims());
    m_goOn = body.outputs()[0].boxed ? *boxed.bytes() : *body.at(0);
  }
  for (std::size_t i = 0; i < m_collected.size(); ++i) TRY(collect(body, i));
  // All results of this iteration are taken from its buffers before one of them is overwritten.
  for (std::size_t i = 0; i < m_carried.size(); ++i) carryOn(body, i);
  for (std::size_t i = 0; i < m_carried.size(); ++i) {
    Dims& extents = m_extents[m_form.firstCarried() + i];
    if (extents != m_carried[i].dims) extents = m_carried[i].dims;
  }
  return Done{};
}

/// Concatenates the elements of result `i` along its axis.
Status LoopStep::assemble(std::size_t i, std::int64_t trips, ResultSink& results) {
  const std::size_t to = outputOf(m_form.carried + i);
  if (to == SIZE_MAX) return Done{};
  const Collected& collected = m_collected[i];
  const std::int64_t given = m_form.collected[i].axis;
  const std::int64_t rank = std::ssize(collected.element);
  const auto axis = static_cast<std::size_t>(std::min(given < 0 ? given + rank + 1 : given, rank));
  Dims dims = collected.element;
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), trips);
  std::byte* bytes = TRY(results.place(to, collected.type, dims));
  const auto before = static_cast<std::size_t>(product(dims, 0, axis));
  const std::size_t piece = before == 0 ? 0 : collected.elementBytes / before;
  if (before == 1 && !m_form.collected[i].fromEnd) {
    copyBytes(collected.elements.data(), collected.elements.size(), bytes);
    return Done{};
  }
  const auto count = static_cast<std::size_t>(trips);
  for (std::size_t trip = 0; trip < count; ++trip) {
    const std::size_t place = m_form.collected[i].fromEnd ? count - 1 - trip : trip;
    for (std::size_t part = 0; part < before; ++part)
      copyBytes(collected.elements.data() + trip * collected.elementBytes + part * piece, piece,
                bytes + (part * count + place) * piece);
  }
  return Done{};
}

Status LoopStep::finish(std::int64_t trips, ResultSink& results, const StopToken& stop) {
  for (std::size_t i = 0; i < m_carried.size(); ++i) {
    const std::size_t to = outputOf(i);
    if (to == SIZE_MAX) continue;
    const DataType type = m_body->graph().value(m_body->graph().inputs()[m_form.firstCarried() + i]).type.dtype;
    const Dims& dims = m_carried[i].dims;
    std::byte* bytes = TRY(results.place(to, type, dims));
    copyBytes(m_carried[i].now.bytes, byteSize(type, product(dims, 0, dims.size())), bytes);
  }
  if (trips == 0 && !m_collected.empty()) {  // without an iteration, no element determines the extents of the result
    const BodyProgram& body = *TRY(m_body->at(m_extents, stop));
    for (std::size_t i = 0; i < m_collected.size(); ++i) {
      const auto& output = body.outputs()[m_form.firstCollected() + i];
      m_collected[i].type = output.type;
      m_collected[i].element =
          output.boxed ? inferredExtents(m_body->graph(), m_form.firstCollected() + i) : output.dims;
      m_collected[i].elementBytes = 0;
    }
  }
  for (std::size_t i = 0; i < m_collected.size(); ++i) TRY(assemble(i, trips, results));
  return Done{};
}

Status LoopStep::execute(ResultSink& results, const StopToken& stop) {
  m_most = TRY(start());
  std::int64_t trip = 0;
  for (; trip < m_most && m_goOn != std::byte{0}; ++trip) {
    TRY(checkStop(stop));
    TRY(iterate(trip, stop));
  }
  return finish(trip, results, stop);
}

}  // namespace fusescope
