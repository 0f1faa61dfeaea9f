#include "planning/applicable_options.h"

#include "planning/directive_map.h"

namespace fusescope {

Result<ApplicableOptions> applicableOptions(const Model& model, const PlanOptions& options, const StopToken& stop) {
  const Target target = TRY(Target::fromName(options.target));
  ApplicableOptions applicable{.options = options};
  Directives& kept = applicable.options.directives;
  if (resolveDirectives(model, target, kept, stop).ok()) return applicable;
  kept.clear();
  for (const Directive& directive : options.directives) {
    kept.push_back(directive);
    auto resolved = resolveDirectives(model, target, kept, stop);
    if (resolved.ok()) continue;
    if (resolved.error().cancelled) return std::move(resolved).error();
    kept.pop_back();
    applicable.dropped.push_back({directive, resolved.error().message});
  }
  return applicable;
}

}  // namespace fusescope
