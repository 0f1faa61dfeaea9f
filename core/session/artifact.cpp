#include "session/artifact.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/mapped_file.h"
#include "base/name_hints.h"
#include "compilers/compile_network.h"
#include "compilers/limits.h"
#include "session/inputs/random_inputs.h"

namespace fusescope {

const Compiler& Artifact::compiler() const {
  return *findCompiler(plan->options.compiler);
}

Result<const Compiler*> compilerFor(const PlanOptions& options) {
  const Compiler* compiler = findCompiler(options.compiler);
  if (compiler == nullptr) {
    std::vector<std::string> names;
    for (const Compiler* known : allCompilers()) names.emplace_back(known->name());
    return Diagnostic{
        .message = fmt::format("there is no compiler '{}'", options.compiler),
        .where = {.attribute = "--compiler"},
        .help = nearestInWords(options.compiler, names, "fusescope compilers lists the compilers that exist.")};
  }
  TRY(checkOptions(*compiler, options.compilerOptions));
  TRY(checkLimits(*compiler, options));
  const std::string target = compiler->target();
  if (compiler->takesTarget(options.target)) return compiler;
  return Diagnostic{
      .message = fmt::format("{} compiles for target {}, not for {}", options.compiler, target, options.target),
      .where = {.attribute = "--target"},
      .help = "Leave --target out: the compiler determines the target."};
}

namespace {

/// Compiles the plan again: an engine file of another compiler contains only the plan.
Result<std::unique_ptr<Engine>> compiled(const Artifact& artifact, const BuildOptions& options) {
  const Compiler& compiler = artifact.compiler();
  if (!artifact.engine) return compileNetwork(compiler, artifact.plan, options);
  if (artifact.isOurs()) return loadEngine(*artifact.engine, options);
  BuildOptions effective = options;
  if (effective.shapes.empty()) effective.shapes = artifact.engine->extents;
  return compileNetwork(compiler, artifact.plan, effective);
}

}  // namespace

Status readBack(Artifact& artifact, const BuildOptions& options) {
  if (artifact.isOurs() || artifact.made != nullptr) return Done{};
  TRY(checkAble(artifact.compiler(), Ability::ReadBack, "report what it makes"));
  BuildOptions verified = options;
  verified.onlyMade = true;
  if (!artifact.plan->model->weightless) verified.verifyOn = randomInputs(*artifact.plan, options.shapes);
  const auto engine = TRY(openEngine(artifact, verified));
  const std::shared_ptr<const Cover> cover = engine->made();
  if (cover == nullptr || asReadBack(*cover) == nullptr) return Done{};
  artifact.made = std::static_pointer_cast<const ReadBackPlan>(cover);
  artifact.plan = artifact.made->requested;
  return Done{};
}

Result<std::vector<UnobeyedPin>> pinsNotObeyed(Artifact artifact, const BuildOptions& options) {
  const Directives& directives = artifact.plan->options.directives;
  if (artifact.isOurs() || std::ranges::find(directives, Strictness::Obey, &Directive::strictness) == directives.end())
    return std::vector<UnobeyedPin>();
  TRY(readBack(artifact, options));
  return unobeyedPins(artifact.cover());
}

Result<std::unique_ptr<Engine>> openEngine(const Artifact& artifact, const BuildOptions& options) {
  auto engine = unlessChanged(compiled(artifact, options), artifact.files);
  if (engine.ok() || !engine.error().where.file.empty() || engine.error().cancelled) return engine;
  auto error = std::move(engine).error();
  error.where.file = artifact.path;
  return error;
}

}  // namespace fusescope
