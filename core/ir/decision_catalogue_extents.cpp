#include "ir/decision_catalogue.h"

namespace fusescope {

// What an engine decides about extents that it meets (engine/specialising_engine.h). "{extents}" names inputs with
// their extents.
std::vector<DecisionCode> withMetExtents(std::vector<DecisionCode> catalogue) {
  using enum DecisionKind;
  const std::vector<DecisionCode> codes{
      {"build.extents_fixed", Build, true,
       "the inputs have one set of extents each, which the engine was built for: there is nothing to specialise"},
      {"build.extents_new", Build, true, "{extents} is met for the first time: the general engine serves"},
      {"build.extents_building", Build, true,
       "{extents} was met {calls|time/times}: an engine for just these extents is built in the background, and the "
       "general one serves meanwhile"},
      {"build.extents_built", Build, true,
       "the engine for {extents} is ready after {ms|time} and takes {bytes|bytes} more memory: it and the general one "
       "serve in turns until one is known to be faster"},
      {"build.extents_taken_over", Build, true,
       "the engine for {extents} takes over: a call takes {specialised_ms|time}, and {general_ms|time} by the general "
       "one"},
      {"build.extents_not_faster", Build, false,
       "the engine for {extents} is not faster beyond what calls differ by: a call takes {specialised_ms|time}, and "
       "{general_ms|time} by the general one, which serves on; the other is dropped"},
      {"build.extents_failed", Build, false, "there is no engine for {extents}, and the general one serves on: {why}"},
      {"build.extents_other_types", Build, false,
       "an engine for {extents} would have {what} in {specialised}, and the general one has it in {general}: its "
       "results would be others, so that the general one serves on"},
      {"build.extents_too_large", Build, false,
       "the engine for {extents} takes {bytes|bytes} more memory, and specialised engines may take {most|bytes}: it is "
       "dropped, and the general one serves on"},
      {"build.extents_dropped", Build, false,
       "the engine for {extents}, which of all was used longest ago, is dropped and gives back {bytes|bytes}: there is "
       "room for {room}, and the one for {newest} is new; the general one serves"},
      {"build.extents_run_failed", Build, false,
       "the engine for {extents} failed where the general one did not: it is dropped, and the general one serves on: "
       "{why}"},
  };
  catalogue.insert(catalogue.end(), codes.begin(), codes.end());
  return catalogue;
}

}  // namespace fusescope
