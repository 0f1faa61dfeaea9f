#include "backends/native/kernels/recurrent_gates.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/kernels/recurrent_gates.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "backends/native/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {
namespace {

constexpr std::int64_t kMostLanes = 64;

/// Loads `count` numbers at `from`; the other lanes are zero.
HWY_INLINE VF loadSome(F32 d, const float* from, std::int64_t count) {
  HWY_ALIGN float lanes[kMostLanes] = {};
  std::copy_n(from, count, lanes);
  return hn::Load(d, lanes);
}

HWY_INLINE void storeSome(F32 d, VF values, std::int64_t count, float* to) {
  HWY_ALIGN float lanes[kMostLanes];
  hn::Store(values, d, lanes);
  std::copy_n(lanes, count, to);
}

/// A row of gates. It is read and written one vector at a time; the last vector may be incomplete.
struct Row {
  const GateRow& row;
  std::int64_t at = 0, count = 0;  ///< the current vector
  F32 d{};

  bool whole() const { return count == static_cast<std::int64_t>(hn::Lanes(d)); }
  HWY_INLINE VF load(const float* from) const {
    return whole() ? hn::LoadU(d, from + at) : loadSome(d, from + at, count);
  }
  HWY_INLINE void store(VF values, float* to) const {
    if (whole()) return hn::StoreU(values, d, to + at);
    storeSome(d, values, count, to + at);
  }
  HWY_INLINE VF projected(std::int64_t gate) const { return load(row.projected + gate * row.hidden); }
  HWY_INLINE VF recurrent(std::int64_t gate) const { return load(row.recurrent + gate * row.hidden); }
  HWY_INLINE VF gate(std::int64_t gate) const { return hn::Add(projected(gate), recurrent(gate)); }
  /// Returns the gate with its peephole, if there are peepholes.
  HWY_INLINE VF gateSeeing(std::int64_t at, VF cell) const {
    return row.peepholes == nullptr ? gate(at) : hn::MulAdd(load(row.peepholes + at * row.hidden), cell, gate(at));
  }
};

template <class Body>
HWY_INLINE void forEachVector(const GateRow& row, Body body) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t at = 0; at < row.hidden; at += lanes) body(Row{row, at, std::min(lanes, row.hidden - at)});
}

}  // namespace

void lstmGatesHere(const GateRow& row) {
  forEachVector(row, [](const Row& r) HWY_ATTR {
    const F32 d;
    const VF before = r.load(r.row.cell);
    const VF input = sigmoidOf(d, r.gateSeeing(0, before)), forget = sigmoidOf(d, r.gateSeeing(2, before));
    const VF cell = hn::MulAdd(forget, before, hn::Mul(input, tanhOf(d, r.gate(3))));
    const VF output = sigmoidOf(d, r.gateSeeing(1, cell));
    r.store(cell, r.row.cell);
    r.store(hn::Mul(output, tanhOf(d, cell)), r.row.state);
  });
}

void resetStateHere(const GateRow& row) {
  forEachVector(row, [](const Row& r) HWY_ATTR {
    const F32 d;
    r.store(hn::Mul(sigmoidOf(d, r.gate(1)), r.load(r.row.state)), r.row.reset);
  });
}

void gruGatesHere(const GateRow& row, bool resetsProduct) {
  forEachVector(row, [=](const Row& r) HWY_ATTR {
    const F32 d;
    VF through = r.recurrent(2);
    if (resetsProduct) {
      if (r.row.lateBias != nullptr) through = hn::Add(through, r.load(r.row.lateBias));
      through = hn::Mul(sigmoidOf(d, r.gate(1)), through);
    }
    const VF update = sigmoidOf(d, r.gate(0)), fresh = tanhOf(d, hn::Add(r.projected(2), through));
    const VF kept = hn::Mul(update, r.load(r.row.state));
    r.store(hn::MulAdd(hn::Sub(hn::Set(d, 1.0f), update), fresh, kept), r.row.state);
  });
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fusescope::native {

HWY_EXPORT(lstmGatesHere);
HWY_EXPORT(resetStateHere);
HWY_EXPORT(gruGatesHere);

void lstmGates(const GateRow& row) {
  HWY_DYNAMIC_DISPATCH(lstmGatesHere)(row);
}

void resetState(const GateRow& row) {
  HWY_DYNAMIC_DISPATCH(resetStateHere)(row);
}

void gruGates(const GateRow& row, bool resetsProduct) {
  HWY_DYNAMIC_DISPATCH(gruGatesHere)(row, resetsProduct);
}

}  // namespace fusescope::native
#endif
