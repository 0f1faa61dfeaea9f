#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/json_fwd.h"
#include "ir/decision.h"
#include "planning/directive.h"

namespace fusescope {

class DirectiveFields;
class DirectiveResolver;
class Graph;
struct Plan;

enum class PatternUse { Required, Optional, None };  ///< Optional: without a pattern, the directive applies everywhere
/// Which part of a plan a kind of directive affects: where nodes run, which nodes run as one kernel and in which types,
/// or how a kernel is run.
enum class DirectiveReach { Segments, Kernels, Tactics };
enum class RequestedType { Nothing, Calculated, Stored };

/// An entry of a node's menu in the window. It adds a directive with the node's name as the pattern and, if the kind
/// has rules, with the result of `rule`.
struct DirectiveMenu {
  std::string_view text = {};  ///< "Split after"; empty if there is no entry
  std::string_view tip = {};
  bool lastOnly = false;  ///< if several nodes are selected, it applies to the last
  /// Returns why the directive would change nothing for the node; empty if it may change something.
  std::string (*pointless)(const Plan& plan, NodeId node) = nullptr;
  std::string (*rule)(const Plan& plan, NodeId node) = nullptr;
};

/// A kind of directive: how it is written, read, described and resolved. A null function means that there is nothing to
/// do.
struct DirectiveForm {
  std::string_view name;           ///< such as "pin", in files and in causes
  std::string_view title = {};     ///< for kinds that ask for a type: which type it is, such as "compute type"
  std::string_view option = {};    ///< "--pin"; empty if the command line has no option for it
  std::string_view argument = {};  ///< the form of the option's argument: "PATTERN=TYPE[:obey|prefer]"
  std::string_view help = {};      ///< help text of the option
  PatternUse pattern = PatternUse::Required;
  DirectiveReach reach = DirectiveReach::Kernels;
  RequestedType asks = RequestedType::Nothing;
  bool inBodies = false;  ///< without a pattern, it also applies in the bodies of If, Loop and Scan
  /// The code of the answer if the pattern matches only things to which it cannot apply.
  std::string_view nothingToDo = {};
  DirectiveMenu menu = {};
  Result<Directive> (*parse)(std::string_view argument) = nullptr;
  std::string (*print)(const Directive& directive) = nullptr;  ///< returns the argument that parse() reads
  std::string (*words)(const Directive& directive) = nullptr;  ///< "pin conv to f32 (obey)"
  /// Writes the fields other than id, pattern and note.
  void (*write)(const Directive& directive, Json& json) = nullptr;
  Status (*read)(const DirectiveFields& fields, Directive& into) = nullptr;  ///< reads the same fields
  Status (*resolve)(DirectiveResolver& resolver, int index) = nullptr;
  /// Makes the decision that answers the directive once the kernels are known. `nodes` are those that its pattern
  /// matches; there are none if it has no pattern.
  Decision (*answer)(const Directive& directive, std::span<const NodeId> nodes, const Plan& plan) = nullptr;
};

/// Returns all kinds, indexed by DirectiveKind.
const std::vector<const DirectiveForm*>& directiveForms();
const DirectiveForm& formOf(DirectiveKind kind);
const DirectiveForm& formOf(const Directive& directive);
/// Returns the kind whose form is `form`, an element of directiveForms().
DirectiveKind kindOf(const DirectiveForm& form);
std::optional<DirectiveKind> directiveKindFromName(std::string_view name);

/// Returns the nodes as subjects of a decision.
std::vector<Subject> subjectsOf(const Graph& graph, std::span<const NodeId> nodes);

/// Makes an error about the argument of an option.
Diagnostic badArgument(std::string_view option, std::string_view text, std::string problem, std::string help);

}  // namespace fusescope
