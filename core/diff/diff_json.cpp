#include "base/json.h"
#include "diff/plan_diff.h"
#include "ir/graph.h"
#include "planning/read_back/compare_prediction.h"

namespace fusescope {

namespace {

Json timeJson(const std::optional<DiffTime>& time) {
  if (!time) return nullptr;
  return {{"ms", time->ms}, {"how", name(time->how)}};
}

Json namesJson(const std::vector<CoveringNode>& nodes) {
  Json all = Json::array();
  for (const CoveringNode& node : nodes)
    all.push_back({{"name", node.place.text()}, {"identity", node.identity.hex()}});
  return all;
}

Json textOrNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json toJson(const DiffTotals& totals) {
  Json json = {{"label", totals.label},
               {"target", totals.target},
               {"precision", totals.precision},
               {"nodes", totals.nodes},
               {"fused_nodes", totals.fusedNodes},
               {"segments", totals.segments},
               {"casts", totals.casts},
               {"bytes", totals.bytes},
               {"cast_bytes", totals.castBytes},
               {"time", timeJson(totals.time)},
               {"errors_on", textOrNull(totals.errorsOn)}};
  if (!totals.compiler.empty()) json["compiler"] = totals.compiler;
  return json;
}

Json predictionJson(const std::optional<PredictionOfSide>& prediction) {
  if (!prediction) return nullptr;
  return {{"prediction", prediction->isA ? "a" : "b"}, {"agreement", toJson(prediction->agreement)}};
}

Json toJson(const Difference& difference) {
  return {{"kind", name(difference.kind)}, {"a", textOrNull(difference.a)}, {"b", textOrNull(difference.b)}};
}

Json toJson(const ChangedNode& node) {
  return {{"a", node.a}, {"b", node.b}, {"what", node.what}};
}

Json toJson(const FusionChange& change) {
  return {{"change", name(change.change)}, {"a", namesJson(change.a)},        {"b", namesJson(change.b)},
          {"nodes", change.nodes},         {"segment", change.place.segment}, {"because", change.because},
          {"told", change.reported}};
}

Json toJson(const FateChange& change) {
  return {{"node", change.node},
          {"a", change.a},
          {"b", change.b},
          {"segment", change.place.segment},
          {"because", change.because}};
}

Json toJson(const SegmentChange& change) {
  return {{"change", name(change.change)},
          {"a", change.a},
          {"b", change.b},
          {"nodes", change.nodes},
          {"run_by", change.runByA.empty() ? Json(nullptr) : Json{{"a", change.runByA}, {"b", change.runByB}}},
          {"because", change.because}};
}

Json toJson(const TypeChange& change) {
  return {{std::string(name(change.thing)), change.name},
          {"name_in_b", change.nameInB},
          {"a", change.a},
          {"b", change.b},
          {"segment", change.place.segment},
          {"because", change.because}};
}

Json toJson(const CastChange& change) {
  return {{"change", change.added ? "added" : "gone"},
          {"value", change.value},
          {"from", name(change.from)},
          {"to", name(change.to)},
          {"bytes", change.bytes ? Json(*change.bytes) : Json(nullptr)},
          {"reason", change.reason},
          {"segment", change.place.segment},
          {"because", change.because}};
}

Json answerJson(const Decision* decision) {
  if (decision == nullptr) return nullptr;
  Json json = toJson(*decision);
  json.erase("evidence");  // these are indexes into the list of decisions of one plan
  return json;
}

Json toJson(const DecisionChange& change) {
  return {{"a", answerJson(change.a)},
          {"b", answerJson(change.b)},
          {"body", textOrNull(change.body.text())},
          {"because", change.because}};
}

Json toJson(const TimeChange& change) {
  return {{"a", namesJson(change.a)},
          {"b", namesJson(change.b)},
          {"a_time", timeJson(change.ofA)},
          {"b_time", timeJson(change.ofB)},
          {"delta_ms", change.ofB.ms - change.ofA.ms}};
}

Json numberOrNull(const std::optional<double>& number) {
  return number ? jsonNumber(*number) : Json(nullptr);
}

Json toJson(const ConstantChange& change) {
  return {{"a", change.a},
          {"b", change.b},
          {"type", change.type},
          {"elements", change.elements},
          {"differing", change.differing},
          {"max_abs", numberOrNull(change.maxAbs)},
          {"max_over_rms", numberOrNull(change.maxOverRms)},
          {"readers", {{"a", namesJson(change.readersOfA)}, {"b", namesJson(change.readersOfB)}}}};
}

Json toJson(const ErrorChange& change) {
  Json json = {{"a_max_over_rms", jsonNumber(change.a)},
               {"b_max_over_rms", jsonNumber(change.b)},
               {"a_local", numberOrNull(change.localOfA)},
               {"b_local", numberOrNull(change.localOfB)}};
  if (change.ofA.empty()) {
    json["value"] = change.name;
    json["is_output"] = change.isOutput;
  } else {
    json["a"] = namesJson(change.ofA);
    json["b"] = namesJson(change.ofB);
  }
  return json;
}

template <class T>
Json listJson(const std::vector<T>& all) {
  Json list = Json::array();
  for (const T& each : all) list.push_back(toJson(each));
  return list;
}

}  // namespace

Json toJson(const PlanDiff& diff) {
  Json json = {{"format", "fusescope.diff"},
               {"version", 1},
               {"same", diff.same()},
               {"a", toJson(diff.a)},
               {"b", toJson(diff.b)},
               {"network",
                {{"one", diff.oneNetwork},
                 {"matched", diff.matched},
                 {"by_name", diff.byName},
                 {"by_structure", diff.byStructure},
                 {"changed", listJson(diff.changed)},
                 {"constants", listJson(diff.constants)},
                 {"constants_not_compared", diff.constantsNotCompared}}},
               {"unmatched", {{"a", diff.onlyA}, {"b", diff.onlyB}}},
               {"differences", listJson(diff.differences)},
               {"segments", listJson(diff.segments)},
               {"fusions", listJson(diff.fusions)},
               {"types", listJson(diff.types)},
               {"casts", listJson(diff.casts)},
               {"decisions", listJson(diff.decisions)},
               {"times", listJson(diff.times)},
               {"errors_alike", diff.a.errorsOn.empty() ? Json(nullptr) : Json(diff.errorsAlike)},
               {"errors", listJson(diff.errors)}};
  if (diff.isReadBack()) {
    json["fates"] = listJson(diff.fates);
    json["causes_known"] = diff.causesKnown;
    json["prediction"] = predictionJson(diff.prediction);
  }
  return json;
}

}  // namespace fusescope
