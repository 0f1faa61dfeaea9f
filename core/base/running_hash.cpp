#include "base/running_hash.h"

#include <xxhash.h>

#include <new>

namespace fusescope {

struct RunningHash::State {
  XXH3_state_t* state = XXH3_createState();
  State() {
    if (state == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(state);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { XXH3_freeState(state); }
};

RunningHash::RunningHash() : m_state(std::make_unique<State>()) {}
RunningHash::~RunningHash() = default;
RunningHash::RunningHash(RunningHash&&) noexcept = default;
RunningHash& RunningHash::operator=(RunningHash&&) noexcept = default;

void RunningHash::add(std::span<const std::byte> piece) {
  XXH3_128bits_update(m_state->state, piece.data(), piece.size());
}

Hash128 RunningHash::hash() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(m_state->state);
  return {hash.high64, hash.low64};
}

}  // namespace fusescope
