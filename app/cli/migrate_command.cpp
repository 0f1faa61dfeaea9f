#include "session/migrate.h"

#include <fmt/format.h>

#include <iostream>

#include "app/cli/command.h"
#include "base/files.h"
#include "base/text.h"
#include "compilers/tensorrt/server_targets.h"
#include "interchange/recipes/read_recipe.h"
#include "session/open_artifact.h"
#include "session/open_model.h"
#include "session/operations/migrate_operation.h"

namespace fusescope::cli {
namespace {

using MigrateArguments = ArgumentsOf<MigrateSettings>;

/// Reads the recipe from a file or from a command line as it was typed.
Result<Recipe> recipeOf(const MigrateArguments& arguments, const Model& model) {
  std::optional<std::string> log;
  if (!arguments.layerNames.empty()) log = TRY(readTextFile(arguments.layerNames));
  std::error_code error;
  const bool isText =
      arguments.recipe.find("--") != std::string::npos && !std::filesystem::exists(arguments.recipe, error);
  if (!isText) return readRecipeFile(arguments.recipe, model, std::move(log));
  return readRecipe(arguments.recipe, model, {.folder = {}, .layerNames = std::move(log)});
}

Result<ExportOptions> exportOptionsOf(const MigrateArguments& arguments, const Artifact& artifact) {
  ExportOptions options{.path = arguments.output, .own = arguments.own};
  if (arguments.rms) options.tolerance = {.rms = *arguments.rms};
  if (arguments.inputs.paths.empty()) return options;
  const Samples samples = TRY(arguments.inputs.samples(artifact));
  options.samples = samples.inputs();
  options.sampleNames = samples.names();
  return options;
}

void printForPeople(const Migration& migration, const std::string& output) {
  std::cout << fmt::format("{}: the types that the recipe ({}) asks for are in the network\n", output,
                           migration.recipe);
  std::cout << fmt::format("{} in another type than the file has; {} compared with the plan of the recipe, all equal\n",
                           counted(std::ssize(migration.changes), "node"), counted(migration.edges, "edge"));
  if (migration.numbers)
    std::cout << inWords(*migration.numbers) << "\n";
  else
    std::cout << "its numbers were not checked; --inputs F checks them against float32\n";
  for (const UnmappedEntry& entry : migration.unmapped)
    std::cout << fmt::format("not migrated: {}: {}\n", entry.entry, entry.why);
  if (!migration.kept.empty())
    std::cout << fmt::format("options of trtexec that do not concern types: {}\n", joined(migration.kept, " "));
}

Result<int> migrate(const MigrateArguments& arguments) {
  const auto model = TRY(openModel(arguments.model, TRY(arguments.plan.inputOverrides()), {}, progressLine()));
  clearProgressLine();
  const Recipe recipe = TRY(recipeOf(arguments, *model));
  PlanOptions options = optionsOf(recipe, TRY(arguments.plan.options()));
  if (arguments.plan.target.empty()) options.target = newestServerTarget();
  const Artifact artifact =
      TRY(openArtifact(arguments.model, TRY(arguments.plan.inputOverrides()), options, "", {}, progressLine()));
  clearProgressLine();
  TRY(checkOutput(arguments.output, "--output", artifact, arguments.inputs.source(artifact)));
  const Exported exported = TRY(findExporter("onnx")->write(*artifact.plan, TRY(exportOptionsOf(arguments, artifact))));
  if (exported.failedCheck) {
    std::cerr << fmt::format("fusescope: {}\n", exported.failedCheck->text());
    return kDoesNotHold;
  }
  TRY(exported.save(arguments.output));
  const Migration migration = migrationOf(recipe, *artifact.plan, exported);
  for (const std::string& warning : migration.warnings) std::cerr << fmt::format("fusescope: warning: {}\n", warning);
  arguments.json ? printJson(toJson(migration, arguments.output)) : printForPeople(migration, arguments.output);
  return migration.ok() ? kDone : kDoesNotHold;
}

}  // namespace

Command migrateCommand(CLI::App& app) {
  return commandOf<MigrateSettings>(app, migrateOperation(), migrate);
}

}  // namespace fusescope::cli
