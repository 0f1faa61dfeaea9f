// Nodes with bodies: branches, loops and scans whose bodies are random networks, which capture values from outside.
#include <fmt/format.h>

#include "ir/graph.h"
#include "tests/property/graph_maker.h"

namespace fusescope::property {

namespace {

constexpr std::int64_t kMostTrips = 3;

/// A body that is being grown, and what it reads from outside.
struct Body {
  GraphMaker maker;
  std::vector<ValueId> captures;          ///< outside
  std::vector<ValueId> capturedFloats{};  ///< inside
};

Body beginBody(GraphMaker& outer) {
  NetworkKind kind = outer.kind();
  --kind.bodies;
  kind.inBody = true;
  return {GraphMaker(outer.dice().below(1U << 30), kind), {}};
}

/// Captures go behind the body's own inputs.
void capture(GraphMaker& outer, Body& body, ValueId value) {
  body.captures.push_back(value);
  const std::string name = fmt::format("captured_{}", body.captures.size());
  body.capturedFloats.push_back(body.maker.addInput(name, {outer.typeOf(value), Shape::of(outer.dimsOf(value))}));
}

Attribute finished(Body& body, const std::vector<ValueId>& outputs) {
  return Subgraph{body.maker.publishBody(outputs), std::move(body.captures)};
}

/// A branch that makes a value like `x`: sometimes what it captured itself.
Attribute branch(GraphMaker& outer, ValueId x) {
  Body body = beginBody(outer);
  capture(outer, body, x);
  if (outer.dice().oneIn(2)) capture(outer, body, outer.pick());
  const ValueId first = body.capturedFloats.front();
  if (outer.dice().oneIn(8)) return finished(body, {first});
  body.maker.grow(1 + outer.dice().below(5));
  return finished(body, {body.maker.like(first)});
}

void ifBlock(GraphMaker& maker, ValueId x) {
  const ValueId sum = maker.apply("ReduceSum", {maker.pick()}, {{"keepdims", std::int64_t{0}}});
  // Not 0: rows that were normalised sum up to rounding errors around it.
  const ValueId condition = maker.apply("Greater", {sum, maker.number(0.125, DataType::F32)});
  if (!condition.valid()) return;
  Attributes branches;
  branches["then_branch"] = branch(maker, x);
  branches["else_branch"] = branch(maker, x);
  maker.apply("If", {condition}, std::move(branches));
}

void loopBlock(GraphMaker& maker, ValueId x) {
  const bool open = !maker.kind().inBody && maker.dice().oneIn(3);
  Body body = beginBody(maker);
  const ValueId number = body.maker.addInput("number", {DataType::I64, Shape::of(Dims{})});
  const ValueId goesOn = body.maker.addInput("goes_on", {DataType::Bool, Shape::of(Dims{})});
  const ValueId carried = body.maker.addInput("carried", {maker.typeOf(x), Shape::of(maker.dimsOf(x))});
  if (maker.dice().oneIn(2)) capture(maker, body, maker.pick());
  body.maker.grow(1 + maker.dice().below(5));
  const bool breaks = maker.dice().oneIn(3);
  const ValueId last =
      breaks ? body.maker.apply("Less", {number, body.maker.constant(Tensor::ofInt64({1}).reshaped({}))}) : goesOn;
  std::vector<ValueId> outputs{last, body.maker.apply("Tanh", {body.maker.like(carried)})};
  const bool collects = !open && !breaks && maker.dice().oneIn(2);
  if (collects) outputs.push_back(maker.dice().oneIn(3) ? carried : body.maker.pick());
  const std::int64_t trips = 1 + static_cast<std::int64_t>(maker.dice().below(kMostTrips));
  const ValueId count =
      open ? maker.addInput(fmt::format("trips_{}", maker.nodeCount()), {DataType::I64, Shape::of(Dims{})})
           : maker.constant(Tensor::ofInt64({trips}).reshaped({}));
  const ValueId begins = maker.constant(Tensor::ofInt64({1}).reshaped({}).converted(DataType::Bool));
  maker.applyMany("Loop", {count, begins, x}, outputs.size() - 1, {{"body", finished(body, outputs)}});
}

void scanBlock(GraphMaker& maker, ValueId x) {
  const ValueId scanned = maker.pick();
  const Dims dims = maker.dimsOf(scanned);
  if (dims.empty()) return;
  Body body = beginBody(maker);
  const ValueId state = body.maker.addInput("state", {maker.typeOf(x), Shape::of(maker.dimsOf(x))});
  body.maker.addInput("element", {maker.typeOf(scanned), Shape::of(Dims(dims.begin() + 1, dims.end()))});
  if (maker.dice().oneIn(2)) capture(maker, body, maker.pick());
  body.maker.grow(1 + maker.dice().below(5));
  const std::vector<ValueId> outputs{body.maker.apply("Tanh", {body.maker.like(state)}), body.maker.pick()};
  maker.applyMany("Scan", {x, scanned}, 2, {{"body", finished(body, outputs)}, {"num_scan_inputs", std::int64_t{1}}});
}

}  // namespace

const std::vector<Block>& controlBlocks() {
  static const std::vector<Block> kBlocks{ifBlock, loopBlock, scanBlock};
  return kBlocks;
}

}  // namespace fusescope::property
