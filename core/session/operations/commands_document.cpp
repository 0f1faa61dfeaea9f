#include <fmt/format.h>

#include <string>

#include "base/text.h"
#include "session/operations/operation.h"
#include "session/operations/shared_settings.h"

namespace fusescope {
namespace {

constexpr const char* kBegin = R"(# Commands

Every operation of Fusescope is a command: `fusescope COMMAND`. The window and its worker do the same operations, with
the same options. This document is made of the list of operations in `core/session/operations`, of which `--help`, the
worker's requests and the window's dialogs are made too; a test compares it with the list.

The exit status is 0 if a command did what it was asked for, 1 if the answer is no (each command says below when that
is so), and 2 if the use or the input is bad. `--json` prints one document on standard output; [json.md](json.md)
describes each by its format. A *pattern* is a node name, a glob, `/regex/`, `op:Type`, `module:PATH`, `value:NAME`, or
in a body `NODE/PATTERN`.

)";

/// Returns how the option is written: "-o, --output FILE", "--per-layer", "MODEL".
std::string title(const Option& option) {
  if (option.isPositional()) return option.name;
  const std::string letter = option.letter == 0 ? std::string() : fmt::format("-{}, ", option.letter);
  const std::string value = option.choices.empty() ? option.argument : joined(option.choices, "|");
  return fmt::format("{}--{}{}", letter, option.name, value.empty() ? "" : " " + value);
}

/// Returns what the help does not say: the default, the range and relations to other options.
std::string facts(const Option& option) {
  std::vector<std::string> facts;
  if (option.isRequired) facts.emplace_back("required");
  if (const std::string usual = option.usualInWords(); !usual.empty()) facts.push_back("default: " + usual);
  if (const std::string range = inWords(option.range); !range.empty()) facts.push_back(range);
  if (std::holds_alternative<std::vector<std::string>*>(option.value) && !option.isOnce)
    facts.emplace_back("may be given several times");
  if (!option.needs.empty()) facts.push_back(fmt::format("only with `--{}`", option.needs));
  for (const std::string& other : option.excludes) facts.push_back(fmt::format("not with `--{}`", other));
  return facts.empty() ? std::string() : fmt::format(" ({})", joined(facts, "; "));
}

std::string listed(const std::vector<Option>& options) {
  std::string text;
  for (const Option& option : options) text += fmt::format("- `{}`: {}{}\n", title(option), option.help, facts(option));
  return text;
}

/// Returns "fusescope tune [OPTIONS] [MODEL]".
std::string usage(const Operation& operation, const std::vector<Option>& options) {
  std::string text = fmt::format("fusescope {} [OPTIONS]", operation.name);
  if (!operation.source.argument.empty()) text += " [MODEL]";
  for (const Option& option : options)
    if (option.isPositional()) text += option.isRequired ? " " + option.name : " [" + option.name + "]";
  return text;
}

std::string groupsOf(const Operation& operation) {
  std::vector<std::string> names;
  const auto add = [&](OptionGroup group, const char* link) {
    if (operation.has(group)) names.emplace_back(link);
  };
  add(OptionGroup::Inputs, "[inputs](#inputs-of-a-run)");
  add(OptionGroup::Engine, "[engine](#engine)");
  add(OptionGroup::ShapeCache, "[prepared extents](#prepared-extents)");
  add(OptionGroup::Steps, "[steps](#steps)");
  add(OptionGroup::Plan, "[plan](#plan-options)");
  if (operation.has(OptionGroup::Plan) || operation.has(OptionGroup::Extents))
    names.emplace_back("[extents](#extents)");
  return names.empty() ? std::string() : fmt::format("Also: the options for {}.\n\n", joined(names, ", "));
}

std::string sectionOf(const Operation& operation, const char* heading) {
  const std::vector<Option> options =
      operation.usualOptions == nullptr ? std::vector<Option>() : operation.usualOptions();
  std::string text = fmt::format("{} {}\n\n{}.\n\n", heading, operation.name, operation.summary);
  if (!operation.parts.empty() && options.empty()) return text;
  text += fmt::format("    {}\n\n", usage(operation, options));
  std::string list;
  if (!operation.source.argument.empty())
    list += fmt::format("- `MODEL`: {} (`{}`)\n", operation.source.help, operation.source.argument);
  if (operation.source.takesSession) list += fmt::format("- `--session F.fsession`: {}\n", kSessionHelp);
  list += listed(options);
  if (operation.has(OptionGroup::Json)) list += fmt::format("- `--json`: Print JSON: {}.\n", operation.prints);
  text += list.empty() ? list : list + "\n";
  text += groupsOf(operation);
  if (!operation.writes.empty()) text += fmt::format("Files that are written: {}.\n\n", operation.writes);
  if (!operation.doesNotHold.empty()) text += fmt::format("The exit status is 1 if {}.\n\n", operation.doesNotHold);
  if (const std::string phases = phasesInWords(operation); !phases.empty())
    text += fmt::format("Phases that are reported: {}.\n\n", phases);
  return text;
}

std::string sharedSections() {
  PlanSettings plan;
  InputSettings inputs;
  EngineSettings engine;
  StepsSettings steps;
  std::string text = "## Options of several commands\n\n";
  const auto add = [&](const char* heading, const std::vector<Option>& options) {
    text += fmt::format("### {}\n\n{}\n", heading, listed(options));
  };
  add(kPlanHeading, plan.planOptions());
  add("Extents", plan.extentsOptions());
  add("Inputs of a run", inputs.options());
  add("Engine", engine.options());
  add("Prepared extents", engine.shapeCacheOptions());
  add("Steps", steps.options());
  return text;
}

}  // namespace

std::string commandsDocument() {
  std::string text = kBegin;
  for (const Operation* operation : operations())
    text += fmt::format("- [{0}](#{0}): {1}.\n", operation->name, operation->summary);
  text += "\n";
  for (const Operation* operation : operations()) {
    text += sectionOf(*operation, "##");
    for (const Operation& part : operation->parts) text += sectionOf(part, "###");
  }
  text += sharedSections();
  text.resize(text.find_last_not_of('\n') + 1);
  return text + "\n";
}

}  // namespace fusescope
