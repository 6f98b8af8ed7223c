/* R calls R_init_sdcRisk; the routines are registered by the Rust library. */

void R_init_sdcrisk_extendr(void *dll);
void register_extendr_panic_hook(void);

void R_init_sdcRisk(void *dll) {
  /* Panics reach R as conditions: they need not be printed too. */
  register_extendr_panic_hook();
  R_init_sdcrisk_extendr(dll);
}
