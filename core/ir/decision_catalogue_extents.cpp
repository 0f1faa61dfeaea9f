#include "ir/decision_catalogue.h"

namespace fusescope {

// What an engine decides about extents at run time (engine/specialising_engine.h). "{extents}" is replaced by the
// inputs with their extents.
std::vector<DecisionCode> withMetExtents(std::vector<DecisionCode> catalogue) {
  using enum DecisionKind;
  const std::vector<DecisionCode> codes{
      {"build.extents_fixed", Build, true,
       "the inputs have one set of extents each, which the engine was built for: there is nothing to specialise"},
      {"build.extents_new", Build, true, "{extents} occurs for the first time: the general engine answers"},
      {"build.extents_building", Build, true,
       "{extents} occurred {calls|time/times}: an engine for exactly these extents is built in the background, and the "
       "general engine answers meanwhile"},
      {"build.extents_built", Build, true,
       "the engine for {extents} is ready after {ms|time} and uses {bytes|bytes} more memory: it and the general "
       "engine answer in turns until one is known to be faster"},
      {"build.extents_taken_over", Build, true,
       "the engine for {extents} takes over: a call takes {specialised_ms|time} with it, and {general_ms|time} with "
       "the general engine"},
      {"build.extents_not_faster", Build, false,
       "the engine for {extents} is not faster by more than the spread of the calls: a call takes "
       "{specialised_ms|time} with it and {general_ms|time} with the general engine. The general engine keeps "
       "answering, and the other one is dropped"},
      {"build.extents_failed", Build, false,
       "no engine for {extents} could be built, and the general engine keeps answering: {why}"},
      {"build.extents_other_types", Build, false,
       "an engine for {extents} would calculate {what} in {specialised}, and the general engine calculates it in "
       "{general}: the results would differ, so the general engine keeps answering"},
      {"build.extents_too_large", Build, false,
       "the engine for {extents} takes {bytes|bytes} more memory, and specialised engines may take {most|bytes}: it is "
       "dropped, and the general engine keeps answering"},
      {"build.extents_dropped", Build, false,
       "the engine for {extents}, the one that was used longest ago, is dropped and frees {bytes|bytes}: there is room "
       "for {room}, and the engine for {newest} is new. The general engine answers from now on"},
      {"build.extents_run_failed", Build, false,
       "the engine for {extents} failed where the general one did not: it is dropped, and the general engine keeps "
       "answering: {why}"},
  };
  catalogue.insert(catalogue.end(), codes.begin(), codes.end());
  return catalogue;
}

}  // namespace fusescope
