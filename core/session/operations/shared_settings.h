#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "session/operations/option.h"

namespace fusescope {

// The groups of options that several operations share (OptionGroup), as texts of the command line.

/// How a network is compiled, and the extents of its inputs.
struct PlanSettings {
  std::string compiler;                              ///< empty: our own
  std::vector<std::string> compilerOptions;          ///< NAME=VALUE
  std::string cache;                                 ///< off, read or write; empty: write
  std::string computeCapability;                     ///< compilerOptions' sm=N; empty: not given
  std::string target;                                ///< empty: that of the directives file, else cpu
  std::string precision;                             ///< empty: those of the directives file, else f32 alone
  std::vector<std::vector<std::string>> directives;  ///< for each DirectiveKind, the arguments given to its option
  std::optional<std::int64_t> workspaceBytes;
  std::vector<std::string> inputs, mins, opts, maxs;
  std::string directivesFile;
  std::string rangesFile;
  std::string weightOnly;  ///< "int8" or "int4"; empty: no
  std::int64_t block = 0;  ///< of weightOnly

  std::vector<Option> planOptions();     ///< all but the extents
  std::vector<Option> extentsOptions();  ///< --input, --min, --opt and --max
};

/// The values that a network is run on.
struct InputSettings {
  std::vector<std::string> paths;
  std::optional<std::int64_t> batchAxis;

  std::vector<Option> options();
};

/// Returns the option --effort of operations that choose tactics by measuring them.
Option effortOption(std::optional<double>& seconds, std::vector<std::string> excludes = {});

/// What runs a network, and with how many threads.
struct EngineSettings {
  std::string backend;  ///< empty: native, or the engine file's own
  int threads = 0;      ///< 0: as many as the machine has
  int shapeCache = BuildOptions().shapeCache;

  std::vector<Option> options();            ///< --backend and --threads
  std::vector<Option> shapeCacheOptions();  ///< --shape-cache
};

/// The network is called again and again, and its outputs are inputs of the next call.
struct StepsSettings {
  int count = 0;                   ///< 0: it is not
  std::vector<std::string> feeds;  ///< OUT=IN

  std::vector<Option> options();
};

/// The headings of the groups in help texts.
constexpr const char* kPlanHeading = "Plan options";
constexpr const char* kExtentsHeading = "Inputs of the network";

}  // namespace fusescope
