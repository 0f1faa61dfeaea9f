#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/decision.h"
#include "ir/graph.h"
#include "planning/directive.h"

namespace fusescope {

class DirectiveFields;
class DirectiveResolver;
struct Plan;

enum class PatternUse { Required, Optional, None };  ///< Optional: without one it holds everywhere
/// What of a plan a kind decides: where nodes run, what runs as one kernel and in which types, or how a kernel is run.
enum class DirectiveReach { Segments, Kernels, Tactics };
enum class AskedType { Nothing, Calculated, Stored };

/// An entry of a node's menu in the window: it adds a directive with the node's name as its pattern, and with the rule
/// that the plan has for it, if the kind has rules.
struct DirectiveMenu {
  std::string_view text = {};  ///< "Split after"; empty: there is none
  std::string_view tip = {};
  bool lastOnly = false;  ///< of several nodes it is about the last
  /// Why it would change nothing for the node; empty: it may.
  std::string (*pointless)(const Plan& plan, NodeId node) = nullptr;
  std::string (*rule)(const Plan& plan, NodeId node) = nullptr;
};

/// A kind of directive: how it is written, read, put in words and resolved. A null function: there is nothing to do.
struct DirectiveForm {
  std::string_view name;           ///< "pin": in files and in causes
  std::string_view title = {};     ///< of kinds that ask for a type, what the type is of: "compute type"
  std::string_view option = {};    ///< "--pin"; empty: the command line has none
  std::string_view argument = {};  ///< the form of what stands behind the option: "PATTERN=TYPE[:obey|prefer]"
  std::string_view help = {};      ///< of the option
  PatternUse pattern = PatternUse::Required;
  DirectiveReach reach = DirectiveReach::Kernels;
  AskedType asks = AskedType::Nothing;
  bool inBodies = false;              ///< without a pattern it holds in the bodies of If, Loop and Scan too
  std::string_view nothingToDo = {};  ///< code of the answer where the pattern names nothing that it can work on
  DirectiveMenu menu = {};
  Result<Directive> (*parse)(std::string_view argument) = nullptr;
  std::string (*print)(const Directive& directive) = nullptr;                ///< the argument again
  std::string (*words)(const Directive& directive) = nullptr;                ///< "pin conv to f32 (obey)"
  void (*write)(const Directive& directive, Json& json) = nullptr;           ///< fields besides id, pattern and note
  Status (*read)(const DirectiveFields& fields, Directive& into) = nullptr;  ///< the same fields
  Status (*resolve)(DirectiveResolver& resolver, int index) = nullptr;
  /// The decision that answers it once kernels are known; `nodes` are what its pattern names (all, without one).
  Decision (*answer)(const Directive& directive, std::vector<Subject> nodes, const Graph& graph) = nullptr;
};

/// All kinds; DirectiveKind is the place in the list.
const std::vector<const DirectiveForm*>& directiveForms();
const DirectiveForm& formOf(DirectiveKind kind);
const DirectiveForm& formOf(const Directive& directive);
/// The kind that `form` is of.
DirectiveKind kindOf(const DirectiveForm& form);
std::optional<DirectiveKind> directiveKindFromName(std::string_view name);

/// What is wrong with the argument of an option.
Diagnostic badArgument(std::string_view option, std::string_view text, std::string problem, std::string help);

}  // namespace fusescope
