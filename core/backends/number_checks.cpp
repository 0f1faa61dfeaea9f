#include "backends/number_checks.h"

#include <omp.h>

#include <cfenv>

namespace fusescope {
namespace {

thread_local UncheckedNumbers* t_outermost = nullptr;

/// Returns whether the calling thread's flag for invalid operations is set, and clears it. Clearing is more expensive
/// than reading, so that a flag that is not set is not cleared.
bool takeOwnInvalid() {
  if (std::fetestexcept(FE_INVALID) == 0) return false;
  std::feclearexcept(FE_INVALID);
  return true;
}

}  // namespace

UncheckedNumbers::UncheckedNumbers() : m_isOutermost(t_outermost == nullptr) {
  if (m_isOutermost) t_outermost = this;
}

UncheckedNumbers::~UncheckedNumbers() {
  if (m_isOutermost) t_outermost = nullptr;
}

bool UncheckedNumbers::takeSuspicion() {
  return m_isOutermost && m_hasRun && takeInvalid();
}

bool isCheckedLater() {
  if (t_outermost == nullptr) return false;
  t_outermost->m_hasRun = true;
  return true;
}

bool takeInvalid() {
  if (omp_get_max_threads() == 1) return takeOwnInvalid();  // leaving a parallel region would cost a system call
  bool met = false;
#pragma omp parallel reduction(|| : met)
  met = takeOwnInvalid();
  return met;
}

}  // namespace fusescope
