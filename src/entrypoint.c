/* R calls R_init_sdcRisk; the routines are registered by the Rust library. */

void R_init_sdcrisk_extendr(void *dll);
void register_extendr_panic_hook(void);

void R_init_sdcRisk(void *dll) {
  /* Panics reach R as conditions: they need not be printed too. */
  register_extendr_panic_hook();
  R_init_sdcrisk_extendr(dll);
}

#ifdef _WIN32
/* Functions outside the API of R, called by parts of extendr that we do not use. Linkers of
   other systems leave these parts out. That for Windows cannot, since rustc has no function
   in a section of its own there: so it finds the functions here and not in R. */
void Rf_error(const char *format, ...);
#define NOT_API(name) void name(void) { Rf_error("sdcRisk must not call %s().", #name); }
NOT_API(BODY)
NOT_API(CLOENV)
NOT_API(DATAPTR)
NOT_API(ENCLOS)
NOT_API(FORMALS)
#endif
