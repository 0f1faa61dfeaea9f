#include "backends/number_checks.h"

#include <cfenv>

namespace fusescope {
namespace {

thread_local UncheckedNumbers* t_outermost = nullptr;

}  // namespace

UncheckedNumbers::UncheckedNumbers() : m_isOutermost(t_outermost == nullptr) {
  if (m_isOutermost) t_outermost = this;
}

UncheckedNumbers::~UncheckedNumbers() {
  if (m_isOutermost) t_outermost = nullptr;
}

bool UncheckedNumbers::isSuspect() const {
  return m_isOutermost && m_hasRun && hasMetInvalid();
}

bool isCheckedLater() {
  if (t_outermost == nullptr) return false;
  if (!t_outermost->m_hasRun) forgetInvalid();  // what was invalid before says nothing of such a kernel
  t_outermost->m_hasRun = true;
  return true;
}

void forgetInvalid() {
#pragma omp parallel
  std::feclearexcept(FE_INVALID);
}

bool hasMetInvalid() {
  int met = 0;
#pragma omp parallel reduction(| : met)
  met |= std::fetestexcept(FE_INVALID);
  return met != 0;
}

}  // namespace fusescope
