#include "compilers/probed/kept_decisions.h"

#include "base/age.h"

namespace fusescope {
namespace {

/// Returns what is said about the compiled network in the store; nothing if there is nothing to say.
std::optional<Decision> compiledDecision(const CompiledNews& news, std::string_view compiler, const Cause& by) {
  using Event = CompiledNews::Event;
  switch (news.event) {
    case Event::None:
      return std::nullopt;
    case Event::Saved:
      return decide("cache.compiled_saved", {}, by,
                    {{"compiler", compiler}, {"bytes", news.bytes}, {"took_ms", news.compileMs}});
    case Event::NotLoaded:
      return decide("cache.compiled_not_loaded", {}, by, {{"compiler", compiler}, {"problem", news.problem}});
    case Event::Loaded:
    case Event::LoadedTooSlowly:
      return decide(news.event == Event::Loaded ? "cache.compiled_loaded" : "cache.compiled_slower", {}, by,
                    {{"compiler", compiler},
                     {"where", news.kept.where},
                     {"age", ageInWords(news.kept.madeAt, secondsNow())},
                     {"made_at", news.kept.madeAt},
                     {"made_by", news.kept.facts.madeBy},
                     {"load_ms", news.loadMs},
                     {"took_ms", news.compileMs}});
  }
  return std::nullopt;
}

}  // namespace

std::vector<Decision> keptDecisions(KeptJob& job, std::string_view compiler, const Cause& by) {
  std::vector<Decision> said;
  if (const auto& found = job.found())
    said.push_back(decide("cache.found", {}, by,
                          {{"compiler", compiler},
                           {"where", found->where},
                           {"age", ageInWords(found->madeAt, secondsNow())},
                           {"made_at", found->madeAt},
                           {"made_by", found->facts.madeBy},
                           {"took_ms", found->facts.madeMs}}));
  if (auto compiled = compiledDecision(job.compiledNews(), compiler, by)) said.push_back(std::move(*compiled));
  for (const DamagedEntry& entry : job.store().takeDamaged())
    said.push_back(decide("cache.entry_damaged", {}, by, {{"about", entry.about}, {"why", entry.why}}));
  if (const std::string problem = job.store().problem(); !problem.empty())
    said.push_back(decide("cache.store", {}, by, {{"problem", problem}}));
  return said;
}

}  // namespace fusescope
