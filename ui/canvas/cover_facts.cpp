#include "ui/canvas/cover_facts.h"

#include <algorithm>

#include "planning/fused_node_facts.h"
#include "planning/read_back/read_back_plan.h"
#include "planning/structure.h"

namespace fusescope {

namespace {

/// `asksForCodes` says whether the plan's options ask for integers, in which case the codes are not the author's.
Decided decidedBy(TypeReason reason, bool asksForCodes) {
  switch (reason) {
    case TypeReason::Default:
    case TypeReason::NotFloat:
    case TypeReason::Moved:
    case TypeReason::NothingToPin:
    case TypeReason::NotMeasured:
      return Decided::Default;
    case TypeReason::AuthorCast:
    case TypeReason::Author:
      return Decided::Network;
    case TypeReason::Quantised:
      return asksForCodes ? Decided::Precision : Decided::Network;
    case TypeReason::TypeKept:
    case TypeReason::OperatorLacks:
      return Decided::Target;
    case TypeReason::Lowered:
    case TypeReason::LoweredByEdit:
      return Decided::Precision;
    case TypeReason::Measured:
      return Decided::Prices;
    case TypeReason::PinGranted:
    case TypeReason::PinByEdit:
      return Decided::Pin;
    case TypeReason::Fallback:
      return Decided::Fallback;
    case TypeReason::PinRefused:
    case TypeReason::PinNotHonoured:
      return Decided::Refused;
  }
  return Decided::Default;
}

/// Returns whether a directive that asks for a type is satisfied, is refused, or neither.
std::optional<bool> isHeld(DirectiveOutcome outcome) {
  switch (outcome) {
    case DirectiveOutcome::Free:
    case DirectiveOutcome::Price:
    case DirectiveOutcome::InFloats:
    case DirectiveOutcome::Granted:
    case DirectiveOutcome::ByEdit:
    case DirectiveOutcome::Stored:
    case DirectiveOutcome::Inner:
      return true;
    case DirectiveOutcome::Refused:
    case DirectiveOutcome::NotHonoured:
      return false;
    case DirectiveOutcome::Overridden:
    case DirectiveOutcome::Nothing:
      break;
  }
  return std::nullopt;
}

/// Returns the type of the codes that a quantiser makes or a dequantiser reads; Undefined for other nodes.
DataType codesOf(const Graph& graph, const Node& node) {
  if (!convertsCodes(node)) return DataType::Undefined;
  const bool makes = !node.is("DequantizeLinear");
  const ValueId codes = makes ? (node.outputs.empty() ? ValueId() : node.outputs.front()) : node.input(0);
  return codes.valid() ? graph.value(codes).type.dtype : DataType::Undefined;
}

}  // namespace

bool convertsCodes(const Node& node) {
  return node.is("QuantizeLinear") || node.is("DequantizeLinear") || node.is("DynamicQuantizeLinear");
}

void addFacts(ItemFacts& block, const ItemFacts& kernel) {
  const bool first = !block.decided;
  if (kernel.decided) block.decided = std::max(block.decided.value_or(Decided::Default), *kernel.decided);
  block.pinned |= kernel.pinned;
  block.refused |= kernel.refused;
  block.ignored |= kernel.ignored;
  block.guessed |= kernel.guessed;
  block.bytes = first ? kernel.bytes : knownSum(block.bytes, kernel.bytes);
  block.results = first ? kernel.results : knownSum(block.results, kernel.results);
}

CoverFacts::CoverFacts(const Cover& cover) : m_cover(cover), m_said(cover.graph().nodeIdLimit()) {
  const Plan& plan = requestedPlan(cover);
  if (plan.structure) m_usual = plan.structure->usual;
  takeAnswers(plan);
  if (const ReadBackPlan* made = asReadBack(cover))
    for (const ReadBackPin& pin : made->pins)
      if (pin.node.valid())
        m_said[pin.node.index].ignored |= pin.result == PinResult::Ignored || pin.result == PinResult::Moved;
}

void CoverFacts::takeAnswers(const Plan& plan) {
  const auto weigh = [&](NodeId node, Decided decided) {
    if (node.index < m_said.size()) m_said[node.index].decided = std::max(m_said[node.index].decided, decided);
  };
  const bool asksForCodes = std::ranges::any_of(plan.options.precisions, [](DataType type) { return !isFloat(type); });
  for (const PrecisionGrant& grant : plan.precisionMap) weigh(grant.node, decidedBy(grant.reason, asksForCodes));
  for (const TypeConflict& conflict : plan.typeConflicts) {
    weigh(conflict.producer, Decided::Neighbour);
    weigh(conflict.consumer, Decided::Neighbour);
  }
  for (const DirectiveAnswer& answer : plan.answers) {
    const std::optional<bool> held = isHeld(answer.outcome);
    if (!held) continue;
    for (const Subject& subject : answer.about) {
      const auto node = subject.nodeIn(plan.graph());
      if (!node) continue;
      (*held ? m_said[node->index].pinned : m_said[node->index].refused) = true;
      weigh(*node, *held ? Decided::Pin : Decided::Refused);
    }
  }
}

DataType CoverFacts::calculates(NodeId node) const {
  return node.index < m_cover.calculates.size() ? m_cover.calculates[node.index] : DataType::Undefined;
}

void CoverFacts::add(ItemFacts& facts, NodeId node, bool fallback) const {
  if (node.index >= m_said.size()) return;
  const Said& said = m_said[node.index];
  const Decided decided = fallback ? std::max(said.decided, Decided::Fallback) : said.decided;
  facts.decided = std::max(facts.decided.value_or(Decided::Default), decided);
  facts.pinned |= said.pinned;
  facts.refused |= said.refused;
  facts.ignored |= said.ignored;
}

ItemFacts CoverFacts::of(const FusedNode& fused) const {
  ItemFacts facts;
  const bool fallback = m_cover.inFallback(fused);
  for (const NodeId node : fused.nodes) add(facts, node, fallback);
  facts.bytes = fused.bytes;
  facts.results = resultsOf(fused);
  // In fallback, and in a read-back plan, no node calculates in the planned type.
  if (fallback || m_cover.source == CoverSource::ReadBack) return facts;
  const DataType main = typeOf(fused);
  for (const NodeId node : fused.nodes) {
    const DataType type = calculates(node);
    const bool other = type != DataType::Undefined && type != main && !convertsCodes(m_cover.graph().node(node));
    if (other && node != fused.root) facts.second = type;
    if (facts.second != DataType::Undefined) break;
  }
  return facts;
}

ItemFacts CoverFacts::of(const Node& node, const FusedNode* fused) const {
  ItemFacts facts;
  add(facts, node.id, fused != nullptr && m_cover.inFallback(*fused));
  if (fused == nullptr || fused->nodes.size() != 1) return facts;
  facts.bytes = fused->bytes;
  facts.results = resultsOf(*fused);
  return facts;
}

std::optional<std::int64_t> CoverFacts::resultsOf(const FusedNode& fused) const {
  if (!m_usual || fused.outputs.empty()) return std::nullopt;
  std::optional<std::int64_t> sum = 0;
  for (const FusedOutput& output : fused.outputs) {
    if (output.type == DataType::Undefined) return std::nullopt;
    sum = knownSum(sum, bytesOfValue(*m_usual, output.value, output.type));
  }
  return sum;
}

DataType CoverFacts::typeOf(const FusedNode& fused) const {
  const Graph& graph = m_cover.graph();
  if (!fused.root.valid() || !graph.has(fused.root)) return fused.compute;
  if (const DataType codes = codesOf(graph, graph.node(fused.root)); codes != DataType::Undefined) return codes;
  if (m_cover.inFallback(fused) || m_cover.source == CoverSource::ReadBack) return fused.compute;
  const DataType main = calculates(fused.root);
  return main == DataType::Undefined ? fused.compute : main;
}

DataType CoverFacts::typeOf(const Node& node, const FusedNode* fused, DataType stored) const {
  if (const DataType codes = codesOf(m_cover.graph(), node); codes != DataType::Undefined) return codes;
  const bool asInFile = fused != nullptr && m_cover.inFallback(*fused);
  const DataType type = calculates(node.id);
  const bool known = isFloat(type) || isByteInteger(type);
  return known && !asInFile ? type : stored;
}

}  // namespace fusescope
