#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compilers/probed/probed_kind.h"
#include "compilers/tensorrt/family_answers.h"

namespace fusescope {

/// The common part of all ways to reach TensorRT for servers: its targets, how types are requested, and what it needs.
class ServerKind : public ProbedKind {
 public:
  std::string_view target() const override;
  bool takesTarget(std::string_view target) const override;
  CompilerInputTypes inputTypes() const override { return CompilerInputTypes::AsPlanned; }
  CompilerInputTypes inputTypesFor(const Plan& plan) const override;
  std::vector<CompilerOption> options() const override;
  std::string whyNot(Ability ability, const Json& opened) const override;
  std::string deviceOf(const Json& opened, const CompilerOptions& options) const override;
  std::string whyNoWorkspace() const override { return {}; }
  std::string whyNoRefit() const override {
    return "TensorRT changes weights only of engines that were built to be refitted, on a machine with a card of "
           "NVIDIA, and Fusescope keeps what was made of a network and not the engine";
  }
  std::string elsewhere() const override;
  Result<Json> requestOptions(CompilerInput& network, const BuildOptions& options) const override;
  NodeId failedAt(const CompilerInput& network, const Diagnostic& error) const override;

 protected:
  /// Returns what `parse` makes of a file of the answer. Errors are located at the file.
  template <class Parse>
  auto parsed(const ProbeAnswer& answer, const char* file, Parse parse) const -> decltype(parse(std::string_view())) {
    auto result = parse(TRY(fileText(answer, file, title())));
    if (result.ok()) return result;
    Diagnostic error = std::move(result).error();
    error.where = {.file = file, .attribute = "--compiler"};
    return error;
  }
  /// Stores the card, and the members `keys` of the probe's answer, as options of the compiler in `readBack`.
  static void keepAnswers(const ProbeAnswer& compiled, std::initializer_list<const char*> keys, ReadBack& readBack);
  /// Adds a warning for each node that the probe lists under `key` in its answer.
  static void warnOfNodes(const CompilerInput& network, const ProbeAnswer& compiled, const char* key,
                          const char* message, ReadBack& readBack);
};

}  // namespace fusescope
