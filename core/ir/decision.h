#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "ir/cause.h"
#include "ir/decision_arguments.h"
#include "ir/place.h"

namespace fusescope {

class Graph;

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

/// What a decision is about. Equal places in two plans of a model are the same thing. Two fused nodes may have the same
/// name, which is for people; their identities differ.
struct Subject {
  SubjectKind kind;
  NetworkPlace place;      ///< as seen from the graph whose plan contains the decision
  std::string identity{};  ///< the hex digits of FusedNode::identity; empty for other kinds
  static Subject node(std::string name) { return {SubjectKind::Node, {{}, std::move(name)}}; }
  static Subject node(NetworkPlace place) { return {SubjectKind::Node, std::move(place)}; }
  static Subject value(std::string name) { return {SubjectKind::Value, {{}, std::move(name)}}; }
  static Subject value(NetworkPlace place) { return {SubjectKind::Value, std::move(place)}; }
  static Subject fusedNode(std::string name, std::string identity) {
    return {SubjectKind::FusedNode, {{}, std::move(name)}, std::move(identity)};
  }
  static Subject segment(std::string name) { return {SubjectKind::Segment, {{}, std::move(name)}}; }
  std::string text() const { return place.text(); }
  /// Returns the node if this subject is a node of `graph` itself, and not of one of its bodies.
  std::optional<NodeId> nodeIn(const Graph& graph) const;
  bool operator==(const Subject&) const = default;
};

/// A recorded answer: what was allowed or refused, for which subjects, by what cause, and why. It explains facts that
/// are stored in the plan or the model; no code reads its code, arguments or evidence to learn a fact. message() makes
/// the sentence for people from the entry of `code` in the catalogue (decision_catalogue.cpp). A code that is not in
/// the catalogue cannot be used, because decide() aborts.
struct Decision {
  DecisionKind kind;
  std::string code;  ///< such as "fuse.consumer_has_pin"; the part before the dot is the name of `kind`
  bool allowed = true;
  std::vector<Subject> subjects;
  Cause by;
  DecisionArguments arguments = {};
  std::vector<std::uint32_t> evidence;  ///< indices into the list that contains this decision
  /// The sentence that was read from a file, if only another version knows the code; else empty.
  std::string sentence = {};
  bool operator==(const Decision&) const = default;
};

/// Makes a decision. It takes `kind` and `allowed` from the catalogue, and aborts if `code` is not there.
Decision decide(std::string_view code, std::vector<Subject> subjects, Cause by, DecisionArguments arguments = {});
/// Appends `added` to `all`.
void append(std::vector<Decision>& all, std::vector<Decision> added);
/// Returns the sentence for people, with the arguments filled in.
std::string message(const Decision& decision);
/// An entry of the catalogue. `allowed` is false if the code refuses something.
struct DecisionCode {
  std::string_view code;
  DecisionKind kind;
  bool allowed;
  /// "{ARGUMENT}" is replaced by the argument of that name, and "{ARGUMENT|FORM}" by a number in one of these forms:
  /// "bytes" and "time" (milliseconds) use a suitable unit, "ONE/MANY" counts ("1 cast", "2 casts", "no cast"), "bytes
  /// more" and "ONE more" give a difference ("2 casts more", "1 cast fewer").
  std::string_view sentence;
};
const DecisionCode* findDecisionCode(std::string_view code);
const std::vector<DecisionCode>& decisionCatalogue();

Json toJson(const Decision& decision);
Result<Decision> decisionFromJson(const Json& json);

}  // namespace fusescope
