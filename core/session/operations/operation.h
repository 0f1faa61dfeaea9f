#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "session/operations/option.h"

namespace fusescope {

/// Options that several operations share. Each group is a struct in shared_settings.h.
enum class OptionGroup {
  Plan,        ///< PlanSettings: how the network is compiled, and the extents of its inputs
  Extents,     ///< the extents alone
  Inputs,      ///< InputSettings: the values that the network is run on
  Engine,      ///< EngineSettings: backend and threads
  ShapeCache,  ///< ShapeCacheSettings
  Steps,       ///< StepsSettings: the network called again and again
  Json         ///< --json
};

/// What an operation works on: the first positional argument of its command, or --session instead of it.
struct OperationSource {
  std::string_view argument = {};  ///< "MODEL|PLAN"; empty: the operation has no such argument
  std::string_view help = {};
  bool takesSession = !argument.empty();  ///< --session may be given instead of the argument
};

/// The help of --session, which every operation with OperationSource::takesSession has.
constexpr std::string_view kSessionHelp = "A session, in place of a model and plan options. Its model may be at MODEL.";

/// One thing that Fusescope can do, as every interface describes it: a command of the command line, a request of the
/// worker, a dialog of the window.
struct Operation {
  std::string_view name;     ///< "tune"; of a part of another one: "cache list"
  std::string_view summary;  ///< one sentence, without its full stop in lists
  OperationSource source{};
  std::vector<OptionGroup> groups{};
  std::vector<Option> (*usualOptions)() = nullptr;  ///< its own options, with their defaults; null: it has none
  std::string_view prints = {};                     ///< where the document that --json prints is described
  std::string_view doesNotHold = {};                ///< when the exit status is 1, a clause after "if"; empty: never
  std::string_view writes = {};                     ///< the files that it writes, as a sentence; empty: none
  /// The phases that it reports beside those of opening a file (phasesOfOpening()), in the order in which they begin.
  std::vector<std::string_view> phases{};
  std::string_view phasesNote = {};  ///< what else there is to say about them, a clause; empty: nothing
  std::vector<Operation> parts{};    ///< "cache list", "cache why": commands below this one

  bool has(OptionGroup group) const;
};

/// Returns the phases in which a network is read, planned and compiled; another compiler reports its own phases, too.
const std::vector<std::string_view>& phasesOfOpening();

/// Returns all phases that the operation reports, with the note about them; empty if the list has none.
std::string phasesInWords(const Operation& operation);

/// Returns all operations, in the order in which they are listed to users. Thread-safe.
const std::vector<const Operation*>& operations();
/// Returns the operation, or the part of one ("cache list"), with this name; null if there is none.
const Operation* findOperation(std::string_view name);

#define FUSESCOPE_OPERATION(name) const Operation& name##Operation();
#include "session/operations/operations.inc"
#undef FUSESCOPE_OPERATION

/// Returns a copy of the options of a default-constructed `Settings`, in the form that Operation::usualOptions
/// requires.
template <class Settings>
std::vector<Option> copyOfUsualOptions() {
  return usualOptions<Settings>();
}

/// docs/commands.md: every operation with its options, as Markdown.
std::string commandsDocument();

}  // namespace fusescope
