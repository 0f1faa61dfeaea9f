// The kernel of byte_gemm.cpp. It is included once for each way to multiply bytes, in a namespace that defines
//   VI dotBytes(VI sum, VI unsignedBytes, VI signedBytes)
// which adds to each lane of 32 bits the products of its four bytes.

/// The number of rows of sums that are kept in registers. Their vectors, those of B and one of A fit into 16 (or 32)
/// registers.
constexpr int kRows = HWY_MAX_BYTES == 64 ? 6 : 4;

/// Applies the zero points to the sums and writes them.
template <int Rows>
HWY_INLINE void deliver(const ByteGemmTask& task, std::int64_t row, std::int64_t panel, VI (&sums)[Rows][kVectors]) {
  const I32 d;
  const std::int64_t first = panel * kPanel, columns = std::min(kPanel, task.n - first);
  HWY_ALIGN std::int32_t edge[kPanel];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
    std::int32_t* c = task.c + (row + r) * task.ldc + first;
    std::int32_t* to = columns < kPanel ? edge : c;
    const std::int32_t rowZero = task.rowZeros == nullptr ? 0 : task.rowZeros[row + r];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      VI sum = sums[r][v];
      if (rowZero != 0)
        sum = hn::Sub(sum, hn::Mul(hn::Set(d, rowZero), hn::LoadU(d, task.columnSums + first + v * kLanes)));
      if (task.columnZeros != nullptr) {
        const auto left = static_cast<std::int32_t>(task.k * rowZero - task.rowSums[row + r]);
        sum = hn::Add(sum, hn::Mul(hn::Set(d, left), hn::LoadU(d, task.columnZeros + first + v * kLanes)));
      }
      hn::StoreU(sum, d, to + v * kLanes);
    }
    if (columns < kPanel) std::memcpy(c, edge, static_cast<std::size_t>(columns) * sizeof(std::int32_t));
  }
}

/// Multiplies `Rows` rows by one panel.
template <int Rows>
HWY_INLINE void micro(const ByteGemmTask& task, std::int64_t row, std::int64_t panel) {
  const I32 d;
  const std::int64_t depth = (task.k + 3) / 4 * 4;
  const std::int8_t* a = task.a + row * depth;
  const std::uint8_t* b = task.packed + panel * kPanel * depth;
  VI sums[Rows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(d);
  }
  for (std::int64_t k = 0; k < depth; k += 4) {
    VI columns[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      columns[v] = hn::LoadU(d, reinterpret_cast<const std::int32_t*>(b + k * kPanel) + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      std::int32_t four = 0;
      std::memcpy(&four, a + r * depth + k, sizeof(four));
      const VI bytes = hn::Set(d, four);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[r][v] = dotBytes(sums[r][v], columns[v], bytes);
    }
  }
  deliver<Rows>(task, row, panel, sums);
}

template <int Rows>
HWY_INLINE void rest(const ByteGemmTask& task, std::int64_t row, std::int64_t panel) {
  if constexpr (Rows > 0) {
    if (task.m - row == Rows) return micro<Rows>(task, row, panel);
    rest<Rows - 1>(task, row, panel);
  }
}

void byteGemm(const ByteGemmTask& task) {
  for (std::int64_t panel = task.firstPanel; panel < task.firstPanel + task.panels; ++panel) {
    std::int64_t row = 0;
    for (; row + kRows <= task.m; row += kRows) micro<kRows>(task, row, panel);
    rest<kRows - 1>(task, row, panel);
  }
}
