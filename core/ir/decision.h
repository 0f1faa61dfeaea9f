#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "ir/cause.h"
#include "ir/place.h"

namespace fusescope {

enum class DecisionKind {
  Import,
  Normalise,
  Infer,
  Input,
  Truncate,
  Quantize,
  Validate,
  Partition,
  Fuse,
  Precision,
  Tactic,
  Cache,
  Build
};
std::string_view name(DecisionKind kind);  ///< "normalise", "fuse", …

enum class SubjectKind { Node, Value, FusedNode, Segment };

/// What a decision is about: places are equal between the plans of a model. Two fused nodes may have one name, for
/// people; they are told apart by identity.
struct Subject {
  SubjectKind kind;
  NetworkPlace place;      ///< seen from the graph whose plan decides
  std::string identity{};  ///< of a fused node: the hex digits of FusedNode::identity
  static Subject node(std::string name) { return {SubjectKind::Node, {{}, std::move(name)}}; }
  static Subject node(NetworkPlace place) { return {SubjectKind::Node, std::move(place)}; }
  static Subject value(std::string name) { return {SubjectKind::Value, {{}, std::move(name)}}; }
  static Subject value(NetworkPlace place) { return {SubjectKind::Value, std::move(place)}; }
  static Subject fusedNode(std::string name, std::string identity) {
    return {SubjectKind::FusedNode, {{}, std::move(name)}, std::move(identity)};
  }
  static Subject segment(std::string name) { return {SubjectKind::Segment, {{}, std::move(name)}}; }
  std::string text() const { return place.text(); }
  /// The node of `graph` itself, not of its bodies, that this is; nothing else.
  std::optional<NodeId> nodeIn(const Graph& graph) const;
  bool operator==(const Subject&) const = default;
};

/// A recorded answer: what was allowed or refused, for whom, by whom, and why. It explains facts that the plan or the
/// model holds elsewhere: nothing reads its code, arguments or evidence to know one. The sentence a person reads is
/// made by message() from the code's entry in the catalogue (decision_catalogue.cpp); a code that is not in the
/// catalogue cannot be used (decide() aborts).
struct Decision {
  DecisionKind kind;
  std::string code;  ///< "fuse.consumer_has_pin"; its part before the dot is the kind's name
  bool allowed = true;
  std::vector<Subject> subjects;
  Cause by;
  Json arguments = Json::object();
  std::vector<std::uint32_t> evidence;  ///< indices into the same list of decisions
  std::string sentence = {};            ///< of a code that only another version knows: what it said; else empty
  bool operator==(const Decision&) const = default;
};

/// The way to make one: looks `code` up for kind and allowed.
Decision decide(std::string_view code, std::vector<Subject> subjects, Cause by, Json arguments = Json::object());
/// Moves `added` to the end of `all`.
void append(std::vector<Decision>& all, std::vector<Decision> added);
/// The sentence for people, with the arguments filled in.
std::string message(const Decision& decision);
/// Whether the catalogue says that this code refuses something.
struct DecisionCode {
  std::string_view code;
  DecisionKind kind;
  bool allowed;
  /// "{ARGUMENT}" is replaced by the argument of that name, "{ARGUMENT|FORM}" by that number in a form: "bytes" and
  /// "time" (of milliseconds) with the unit that fits, "ONE/MANY" counted ("1 cast", "2 casts", "no cast"), "bytes
  /// more" and "ONE more" as a difference ("2 casts more", "1 cast fewer").
  std::string_view sentence;
};
const DecisionCode* findDecisionCode(std::string_view code);
const std::vector<DecisionCode>& decisionCatalogue();

Json toJson(const Decision& decision);
Result<Decision> decisionFromJson(const Json& json);

}  // namespace fusescope
